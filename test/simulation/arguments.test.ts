/** The simulator's command says what is wrong with its arguments. */
import { describe, expect, it } from 'vitest'
import { ArgumentError, parseArguments } from './arguments.ts'

const parse = (...args: string[]) => parseArguments(args, {})

describe('The arguments of the simulator', () => {
  it('name the seeds and where they begin', () => {
    const told = parse('--seeds', '50', '--from', '7', '--shrink', '--jobs', '1')
    expect(told).toMatchObject({ mode: 'seeds', seeds: 50, from: 7, shrink: true, jobs: 1 })
  })

  it.each([
    [[], 'what is to be simulated'],
    [['--seeds', 'many'], '--seeds is a whole number from 1 on, not "many"'],
    [['--seeds', '0'], '--seeds is a whole number from 1 on, not "0"'],
    [['--seeds', '5', '--sweep'], '--sweep and --seeds exclude each other'],
    [['--seeds', '5', '--scenario', 'single-read'], '--scenario belongs to --sweep'],
    [['--minutes', '-1'], 'minutes'],
    [['--sedes', '5'], "Unknown option '--sedes'"],
  ])('of %j are refused', (args, said) => {
    expect(() => parse(...args)).toThrow(ArgumentError)
    expect(() => parse(...args)).toThrow(said)
  })

  it('of a soak take its minutes from the environment, and from the command before that', () => {
    expect(parseArguments(['--soak'], { SOAK_MINUTES: '3' }).minutes).toBe(3)
    expect(parseArguments(['--soak', '--minutes', '2'], { SOAK_MINUTES: '3' }).minutes).toBe(2)
    expect(parse('--soak').minutes).toBe(60)
  })
})
