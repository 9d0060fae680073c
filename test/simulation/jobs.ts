/**
 * Spreads the tasks of the simulator over processes. Each is the bundled simulator: it is faster than its sources, and only
 * in it the admission model stands beside the scheduler, so no plan is ever judged in another way.
 */
import { type ChildProcess, type ForkOptions, fork } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { bundle } from './bundle.ts'
import type { Task, TaskResult } from './task.ts'

interface Answer {
  readonly result?: TaskResult
  readonly error?: string
}

export interface JobsOptions {
  readonly jobs: number
  /** Taken one by one, when a process has nothing to do. */
  readonly tasks: Iterator<Task>
  readonly onResult: (result: TaskResult, task: Task) => void
}

/** Resolves when all tasks are done; rejects when one could not be done. */
export async function runJobs({ jobs, tasks, onResult }: JobsOptions): Promise<void> {
  await withProcesses(jobs, async (children) => {
    await Promise.all(children.map((child) => work(child, tasks, onResult)))
  })
}

/** One task after the other, in one process that stays. */
export function withProcess<T>(
  use: (perform: (task: Task) => Promise<TaskResult>) => Promise<T>,
): Promise<T> {
  return withProcesses(1, ([child]) => {
    if (!child) throw new Error('there is no process')
    return use((task) => perform(child, task))
  })
}

async function withProcesses<T>(
  count: number,
  use: (children: readonly ChildProcess[]) => Promise<T>,
): Promise<T> {
  const file = await bundle('task-worker.ts')
  // The processes are plain Node: nothing that this one was started with is theirs. What they answer may hold maps.
  const options: ForkOptions = { execArgv: [], serialization: 'advanced' }
  const children = Array.from({ length: count }, () => fork(file, [], options))
  try {
    return await use(children)
  } finally {
    for (const child of children) child.kill()
    await rm(file, { force: true })
  }
}

async function work(
  child: ChildProcess,
  tasks: Iterator<Task>,
  onResult: JobsOptions['onResult'],
): Promise<void> {
  for (let next = tasks.next(); !next.done; next = tasks.next()) {
    onResult(await perform(child, next.value), next.value)
  }
}

async function perform(child: ChildProcess, task: Task): Promise<TaskResult> {
  const { result, error } = await ask(child, task)
  if (!result) throw new Error(error ?? 'a process of the simulator said nothing')
  return result
}

function ask(child: ChildProcess, task: Task): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`a process of the simulator ended with ${code}`))
    child.once('exit', onExit)
    child.once('message', (answer: Answer) => {
      child.off('exit', onExit)
      resolve(answer)
    })
    child.send(task)
  })
}
