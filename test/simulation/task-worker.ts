/** A process of the simulator: takes a task at a time from the process that forked it, and sends back the result. */
import { perform, type Task } from './task.ts'

process.on('message', (task: Task) => {
  void perform(task).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: error instanceof Error ? error.stack : String(error) }),
  )
})
process.on('disconnect', () => process.exit())
