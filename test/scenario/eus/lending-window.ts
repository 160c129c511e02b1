import { VirtualMachines } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { KubeObject } from '../../../src/lib/kube/object.ts'
import { overrideAnnotation, overrideLabel } from '../../../src/lib/vms/unblock/vm-overrides.ts'
import { ocpOlm } from '../../../src/simulator/olm/olm-shape.ts'
import type { Simulation } from '../../../src/simulator/simulated-cluster.ts'
import { minute, type Stage, type Terminal } from '../stage.ts'
import { borrowedFields, bothChecks, eusAbortOn, eusRunOn, playFrom, playsAt } from './window-stage.ts'
import type { EusRunOptions } from '../../../src/lib/eus/run/window-run.ts'

/** A window in which everything is borrowed that kvup ever borrows: methods, a pool, health checks of both kinds, approval, and of a VM its evictionStrategy. */
const shape: Omit<Simulation, 'clock'> = {
  ...bothChecks,
  olm: ocpOlm({ approval: 'Automatic' }),
  vms: [{ name: 'db', notMigratable: 'DisksNotLiveMigratable' }],
}

const options = {
  approval: 'Manual',
  accept: ['vms-that-stay', 'outdated-launchers', 'no-room'],
} as const satisfies Partial<{ approval: 'Manual'; accept: readonly string[] }>

/** As a person would have typed it. */
export type Command = (
  stage: Stage,
  terminal?: Terminal,
  more?: Partial<EusRunOptions>,
) => ReturnType<typeof eusRunOn>

export const run: Command = (stage, terminal, more) =>
  eusRunOn(stage, { ...options, accept: [...options.accept], ...more }, terminal)
export const abort: Command = (stage, terminal, more) =>
  eusAbortOn(stage, { accept: [...options.accept], ...more }, terminal)

/** Every field that is ever borrowed, as it is now. */
export const lentFields = (stage: Stage) => ({
  ...borrowedFields(stage),
  vms: stage.simulated.store
    .list(VirtualMachines)
    .items.map(({ spec, metadata: { labels, annotations } }: KubeObject & { spec?: object }) => ({
      spec,
      note: annotations?.[overrideAnnotation],
      label: labels?.[overrideLabel],
    })),
})

/** On a cluster before its window; the VM that would block the drain of its node was lent a strategy that does not, and runs with it. */
export const playLent = playFrom(shape, async (stage) => {
  const before = structuredClone(lentFields(stage))
  const unblocked = await stage.unblock({ accept: ['data-loss'] })
  if (unblocked.code !== 0) throw new Error(unblocked.text)
  await restartDb(stage)
  return before
})

/** The same behind parts of its window. */
export const playLentAt = playsAt(
  shape,
  [
    'pause-worker',
    'channel-4.19',
    'request-4.19',
    'accepted-4.19',
    'operator-4.19',
    'accepted-4.20',
    'operator-4.20',
    'resume-workload-updates',
    'rolled-worker',
  ],
  (until) => async (stage, before) => {
    const ended = await run(stage, {}, { until })
    if (ended.code !== 0 || before === undefined) throw new Error(ended.text)
    return before
  },
  playLent,
)

/** It runs with what its VM says by then. */
export async function restartDb(stage: Stage): Promise<void> {
  const kind = { ...VirtualMachines, apiVersion: 'subresources.kubevirt.io/v1' }
  const call = { name: 'restart', method: 'PUT', body: {} } as const
  await stage.cluster.writer.subresource(kind, { name: 'db', namespace: 'demo' }, call)
  await stage.until(minute)
}
