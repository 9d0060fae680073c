/** Reads the text format of Prometheus 0.0.4 strictly: whatever is not as the format says is an error. */

export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface Family {
  readonly type: string
  readonly help: string
  readonly samples: Sample[]
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const HELP = new RegExp(`^# HELP (${NAME}) (.+)$`)
const TYPE = new RegExp(`^# TYPE (${NAME}) (counter|gauge|histogram|summary|untyped)$`)
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? ([^ ]+)$`)
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y
const NUMBER = /^(?:[+-]?Inf|NaN|[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)$/

export function parseMetrics(text: string): ReadonlyMap<string, Family> {
  const families = new Map<string, Family>()
  const seen = new Set<string>()
  let help: RegExpExecArray | null = null
  let current: [string, Family] | undefined
  check(text.endsWith('\n'), 'the last line does not end')
  for (const line of text.split('\n')) {
    if (line === '') continue
    if (line.startsWith('# HELP')) {
      help = HELP.exec(line)
      check(help !== null, line)
    } else if (line.startsWith('#')) {
      const [, name = '', type = ''] = TYPE.exec(line) ?? []
      check(type !== '' && help?.[1] === name, `a type without its help: ${line}`)
      check(!families.has(name), `the family ${name} comes twice`)
      current = [name, { type, help: help?.[2] ?? '', samples: [] }]
      families.set(...current)
    } else {
      check(!seen.has(line.slice(0, line.lastIndexOf(' '))), `a sample comes twice: ${line}`)
      seen.add(line.slice(0, line.lastIndexOf(' ')))
      const sample = sampleOf(line)
      check(current !== undefined && belongs(sample.name, ...current), `a sample outside its family: ${line}`)
      current?.[1].samples.push(sample)
    }
  }
  for (const [name, { type, samples }] of families) if (type === 'histogram') checkBuckets(name, samples)
  return families
}

function sampleOf(line: string): Sample {
  const [, name = '', labelText = '', number = ''] = SAMPLE.exec(line) ?? []
  check(NUMBER.test(number), `no number: ${line}`)
  const labels: Record<string, string> = {}
  LABEL.lastIndex = 0
  while (LABEL.lastIndex < labelText.length) {
    const match = LABEL.exec(labelText)
    check(match !== null, `no label: ${line}`)
    if (!match) break
    check(!((match[1] ?? '') in labels), `a label comes twice: ${line}`)
    labels[match[1] ?? ''] = match[2] ?? ''
  }
  return { name, labels, value: Number(number.replace('Inf', 'Infinity')) }
}

function belongs(sample: string, family: string, { type }: Family): boolean {
  if (type !== 'histogram') return sample === family
  return ['_bucket', '_sum', '_count'].some((end) => sample === family + end)
}

/** Buckets grow, and the last one is the count. */
function checkBuckets(name: string, samples: readonly Sample[]): void {
  const key = ({ labels: { le: _, ...rest } }: Sample) => JSON.stringify(rest)
  for (const group of new Set(samples.map(key))) {
    const mine = samples.filter((sample) => key(sample) === group)
    const values = mine.filter((sample) => sample.name === `${name}_bucket`).map(({ value }) => value)
    check(
      values.every((value, index) => value >= (values[index - 1] ?? 0)),
      `buckets of ${name} shrink`,
    )
    const count = mine.find((sample) => sample.name === `${name}_count`)?.value
    check(values.length === 0 || values.at(-1) === count, `buckets of ${name} do not add up`)
  }
}

function check(condition: boolean, message: string): void {
  if (!condition) throw new Error(`not the text format: ${message}`)
}
