#!/usr/bin/env node
/** The process entry of the `baudway` command. */
import { runCommandLine } from './cli/command-line.ts'
import { processTerminal } from './cli/terminal.ts'

// A reader that has seen enough ("baudway tools | head") is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

process.exitCode = await runCommandLine(process.argv.slice(2), processTerminal())
