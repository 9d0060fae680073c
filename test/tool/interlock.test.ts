import { describe, expect, it } from 'vitest'
import { Interlock } from '../../src/tool/interlock.ts'
import { VirtualClock } from '../virtual-clock.ts'

const GAP_MS = 60_000

function bench(...rules: { tool: string; minimumGapMs?: number }[]) {
  const clock = new VirtualClock()
  const interlock = new Interlock(clock, rules)
  /** Undefined: it may run. */
  const refusal = (tool: string) => {
    try {
      interlock.enter(tool)('idle')
      return undefined
    } catch (error) {
      return error
    }
  }
  return { clock, interlock, refusal }
}

describe('a rule without a gap', () => {
  it('forbids the tools of its pattern and no others', () => {
    const { interlock } = bench({ tool: 'pump__*' }, { tool: '*__reset' }, { tool: 'a.b' })
    const forbidden = ['pump__start', 'pump__', 'valve__reset', '__reset', 'a.b']
    const allowed = ['pump_start', 'the_pump__start', 'valve__reset_all', 'axb', '']
    for (const tool of forbidden) {
      expect(interlock.forbids(tool), tool).toMatchObject({ code: 'interlocked' })
    }
    for (const tool of allowed) expect(interlock.forbids(tool), tool).toBeUndefined()
  })

  it('may have several asterisks', () => {
    const { interlock } = bench({ tool: '*__set_*_limit' })
    expect(interlock.forbids('meter__set_upper_limit')).toBeDefined()
    expect(interlock.forbids('meter__set_limit')).toBeUndefined()
  })

  it('names itself and the tool', () => {
    const { interlock } = bench({ tool: 'pump__*' })
    expect(interlock.forbids('pump__start')?.message).toBe('the rule "never pump__*" forbids pump__start')
  })
})

describe('a rule with a gap', () => {
  it('forbids nothing for good', () => {
    expect(bench({ tool: '*', minimumGapMs: GAP_MS }).interlock.forbids('pump__start')).toBeUndefined()
  })

  it('counts its gap from the end of a run to the start of the next', async () => {
    const { clock, interlock, refusal } = bench({ tool: 'pump__*', minimumGapMs: GAP_MS })
    const end = interlock.enter('pump__start')
    await clock.advance(GAP_MS + 5_000)
    end('may have run')
    await clock.advance(GAP_MS - 0.5)
    expect(refusal('pump__stop')).toMatchObject({ code: 'interlocked', details: { retryAfterMs: 1 } })
    await clock.advance(0.5)
    expect(refusal('pump__stop')).toBeUndefined()
  })

  it('lets no second run begin while one goes on, however long it takes', async () => {
    const { clock, interlock, refusal } = bench({ tool: 'pump__*', minimumGapMs: GAP_MS })
    interlock.enter('pump__start')
    await clock.advance(10 * GAP_MS)
    expect(refusal('pump__stop')).toMatchObject({ code: 'interlocked', details: { retryAfterMs: GAP_MS } })
  })

  it('does not count a run that did nothing', () => {
    const { interlock, refusal } = bench({ tool: 'pump__*', minimumGapMs: GAP_MS })
    interlock.enter('pump__start')('idle')
    expect(refusal('pump__start')).toBeUndefined()
  })

  it('keeps what an earlier run has left when a later one did nothing', async () => {
    const { clock, interlock, refusal } = bench({ tool: 'pump__*', minimumGapMs: GAP_MS })
    interlock.enter('pump__start')('may have run')
    await clock.advance(GAP_MS)
    interlock.enter('pump__start')('idle')
    expect(refusal('pump__start')).toBeUndefined()
    interlock.enter('pump__start')('may have run')
    expect(refusal('pump__start')).toBeDefined()
  })

  it('leaves the time of the others alone when one of several rules rejects a run', async () => {
    const { clock, interlock, refusal } = bench(
      { tool: '*__start', minimumGapMs: 1_000 },
      { tool: 'pump__*', minimumGapMs: GAP_MS },
    )
    interlock.enter('pump__stop')('may have run')
    await clock.advance(10)
    expect(refusal('pump__start')).toMatchObject({ code: 'interlocked' })
    expect(refusal('valve__start')).toBeUndefined()
  })

  it('is shared by the tools of its pattern, and nobody else waits', () => {
    const { interlock, refusal } = bench({ tool: 'pump__*', minimumGapMs: GAP_MS })
    interlock.enter('pump__start')('may have run')
    expect(refusal('pump__stop')).toBeDefined()
    expect(refusal('valve__open')).toBeUndefined()
  })
})

describe('other rules', () => {
  it('go on counting from the runs before them, with their own gap', async () => {
    const { clock, interlock, refusal } = bench({ tool: 'pump__*', minimumGapMs: 1_000 })
    interlock.enter('pump__start')('may have run')
    await clock.advance(2_000)
    interlock.replace([{ tool: 'pump__*', minimumGapMs: GAP_MS }])
    expect(refusal('pump__start')).toMatchObject({ details: { retryAfterMs: GAP_MS - 2_000 } })
    interlock.replace([{ tool: 'pump__*', minimumGapMs: 500 }])
    expect(refusal('pump__start')).toBeUndefined()
  })

  it('know of a run that goes on', async () => {
    const { clock, interlock, refusal } = bench({ tool: 'pump__*', minimumGapMs: 1_000 })
    const end = interlock.enter('pump__start')
    interlock.replace([{ tool: 'pump__*', minimumGapMs: GAP_MS }])
    await clock.advance(GAP_MS)
    expect(refusal('pump__stop')).toBeDefined()
    end('may have run')
    await clock.advance(GAP_MS - 1)
    expect(refusal('pump__stop')).toMatchObject({ details: { retryAfterMs: 1 } })
  })

  it('hold for a call that was taken before them, and no longer where they are gone', () => {
    const { interlock, refusal } = bench()
    expect(refusal('pump__start')).toBeUndefined()
    interlock.replace([{ tool: 'pump__*' }])
    expect(refusal('pump__start')).toMatchObject({
      code: 'interlocked',
      message: 'the rule "never pump__*" forbids pump__start',
    })
    interlock.replace([])
    expect(refusal('pump__start')).toBeUndefined()
  })
})
