import { type Event, Events } from '../../cluster/kinds/core.ts'
import type { KubeObject } from '../../cluster/object.ts'
import type { ControllerContext } from './controller.ts'
import { nameSuffix } from './luck.ts'

export interface Occurrence {
  type: 'Normal' | 'Warning'
  reason: string
  message: string
  /** The component that tells: `kubelet`, `replicaset-controller`. */
  by: string
}

/** Writes an Event about an object. */
export async function recordEvent(
  cx: ControllerContext,
  about: KubeObject,
  occurrence: Occurrence,
): Promise<void> {
  const { type, reason, message, by } = occurrence
  const { name, namespace = 'default', uid } = about.metadata
  const at = cx.clock
    .now()
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
  const event: Event = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${name}.${nameSuffix(cx.random)}${nameSuffix(cx.random)}`, namespace },
    involvedObject: {
      apiVersion: about.apiVersion,
      kind: about.kind,
      namespace,
      name,
      ...(uid === undefined ? {} : { uid }),
    },
    type,
    reason,
    message,
    count: 1,
    firstTimestamp: at,
    lastTimestamp: at,
    source: { component: by },
  }
  await cx.writer.create(Events, event)
}
