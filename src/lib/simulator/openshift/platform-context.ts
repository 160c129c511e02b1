import { isDeepStrictEqual } from 'node:util'
import type { Kind } from '../../cluster/kind.ts'
import type { KubeObject } from '../../cluster/object.ts'
import { isNotFound } from '../../system/errors.ts'
import type { ControllerContext } from '../machinery/controller.ts'
import type { Faults } from '../machinery/faults.ts'
import type { OpenShiftFaults } from './faults.ts'
import type { OpenShiftShape } from './shape.ts'

/** What every operator of the platform works with. */
export interface PlatformContext extends ControllerContext {
  readonly shape: OpenShiftShape
  readonly faults: Faults<OpenShiftFaults>
}

export const minute = 60_000

/** How often an update under way is looked at, as the passing of time has no event of its own; in ms. */
export const look = 15_000

/** Now, in whole seconds, as status fields have it. */
export function seconds({ clock }: Pick<ControllerContext, 'clock'>): string {
  return clock
    .now()
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
}

/** All of them; none where the cluster does not know the kind. Throws ApiError. */
export async function listServed<T extends KubeObject>(cx: ControllerContext, kind: Kind<T>): Promise<T[]> {
  try {
    return await cx.reader.list(kind)
  } catch (error) {
    if (isNotFound(error)) return []
    throw error
  }
}

/**
 * Replaces the status of what was read, null fields included; nothing where it is that already. Throws ApiError 422 where
 * somebody wrote meanwhile.
 */
export async function writeStatus<T extends KubeObject & { status?: object }>(
  cx: ControllerContext,
  kind: Kind<T>,
  object: T,
  status: T['status'],
): Promise<void> {
  if (isDeepStrictEqual(object.status, status)) return
  const { name, namespace, resourceVersion } = object.metadata
  await cx.writer.jsonPatch(
    kind,
    { name, namespace },
    [
      { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
      { op: 'add', path: '/status', value: status },
    ],
    'status',
  )
}
