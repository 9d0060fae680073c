/** The mock binding with its types, which the package has for `require` only. */
import { createRequire } from 'node:module'
import type { BindingInterface } from '../src/port/binding-interface.ts'

const require = createRequire(import.meta.url)

export const MockBinding: BindingInterface = require('@serialport/binding-mock').MockBinding
