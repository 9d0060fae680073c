/** Medians, and the table that a bench prints. */

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

export interface Row {
  readonly figure: string
  /** Milliseconds, median over the rounds. */
  readonly medianMs: number
  /** Against the one call of the same run. */
  readonly ratio: number
  readonly goal: string
  readonly holds: boolean
  /** Calls that really ran, of those that were asked for. */
  readonly executed: string
  /** Request frames that the far ends of the wires counted. */
  readonly farEndFrames: number
}

export function printTable(title: string, rows: readonly Row[]): void {
  const head = ['figure', 'median', 'ratio', 'goal', 'executed', 'frames at the far end', '']
  const lines = rows.map((row) => [
    row.figure,
    `${row.medianMs.toFixed(1)} ms`,
    `${row.ratio.toFixed(3)}×`,
    row.goal,
    row.executed,
    String(row.farEndFrames),
    row.holds ? 'holds' : 'MISSED',
  ])
  const widths = head.map((name, column) =>
    Math.max(name.length, ...lines.map((line) => line[column]?.length ?? 0)),
  )
  console.log(`\n${title}`)
  for (const line of [head, ...lines]) {
    console.log(line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
  }
}
