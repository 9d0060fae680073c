import type { PlantedBug } from '../bundle.ts'

const bug: PlantedBug = {
  name: 'every-set-wants-the-gateway',
  breaks:
    'What changes something claims the whole gateway, and waits for a dead line that it has nothing to do with.',
  invariant: 'isolation',
  from: 2,
  changes: [
    {
      file: 'src/tool/device-tool.ts',
      find: '...(spec.claims ?? []),',
      replace: `...(spec.claims ?? []),
      ...(serial && spec.effect !== 'read' ? [{ resource: 'gateway', mode: 'exclusive' } as const] : []),`,
    },
  ],
}

export default bug
