/** The device types of the catalogue as they are listed. */
import { gradeOf } from './driver/contract.ts'
import type { DeviceType } from './driver/device-type.ts'
import type { TypeView } from './tool/home.ts'
import type { JsonSchema } from './tool/tool.ts'

/** Where tools and readings depend on the options of a device, they are those of the type's own sample. */
export async function typeView(type: DeviceType): Promise<TypeView> {
  const { tools, readings } = type.describe(type.sample)
  return {
    type: type.type,
    title: type.title,
    description: type.description ?? null,
    addressed: type.addressed,
    toolsConfigured: type.toolsConfigured ?? false,
    grade: await gradeOf(type),
    uart: { ...type.uart },
    options: type.options as unknown as JsonSchema,
    tools: Object.entries(tools).map(([command, { title, description, effect, dangerous }]) => ({
      command,
      title: title ?? command,
      description,
      effect,
      dangerous: dangerous ?? false,
    })),
    readings: Object.entries(readings).map(([field, { unit }]) => ({ field, unit: unit ?? null })),
  }
}
