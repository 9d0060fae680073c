/** Spreads the tasks of the simulator over processes; each is the bundled simulator, which is faster than its sources. */
import { type ChildProcess, fork } from 'node:child_process'
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
  const file = await bundle('task-worker.ts')
  // The processes are plain Node: nothing that this one was started with is theirs.
  const children = Array.from({ length: jobs }, () => fork(file, [], { execArgv: [] }))
  try {
    await Promise.all(children.map((child) => work(child, tasks, onResult)))
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
    const { result, error } = await ask(child, next.value)
    if (!result) throw new Error(error ?? 'a process of the simulator said nothing')
    onResult(result, next.value)
  }
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
