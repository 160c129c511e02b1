import type { World } from '../../context.ts'
import { seal } from '../../lib/output/document.ts'
import type { Document } from '../../lib/output/printer.ts'
import { usageError } from '../../lib/system/errors.ts'

/** Writes what `-o yaml` prints. Throws `usage` for a file that cannot be written. */
export async function savePlan(world: World, file: string, document: Document): Promise<void> {
  const { yamlText } = await import('../../lib/output/yaml-text.ts')
  await world.writeText(file, yamlText(seal(document, 'complete'), true)).catch((cause: unknown) => {
    throw usageError(
      'plan-not-saved',
      `the plan cannot be written to ${file}: ${cause instanceof Error ? cause.message : String(cause)}`,
      { remedy: 'name a file that can be written: --to-file FILE', cause },
    )
  })
}
