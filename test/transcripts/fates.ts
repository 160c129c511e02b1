import type {
  KubeVirt,
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
} from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { Line } from './read.ts'

/** What became of a VM's instance over a transcript. */
export interface Outcome {
  /** Tag of the launcher that it ended with; `gone` when it was not there at the end. */
  launcher: string
  outdated: boolean
  migrated: number
  failed: boolean
  replaced: boolean
}

/** The fate of every instance, whatever the order in which they were taken. */
export function fates(lines: readonly Line[]): Record<string, Outcome> {
  const all: Record<string, Outcome> = {}
  const uids = new Map<string, string>()
  const succeeded = new Set<string>()
  for (const { type, object } of lines) {
    if (object?.kind === 'VirtualMachineInstance') meet(all, uids, { type, vmi: object })
    if (object?.kind === 'VirtualMachineInstanceMigration') {
      const { spec, status, metadata } = object as VirtualMachineInstanceMigration
      const outcome = all[spec?.vmiName ?? '']
      if (outcome && status?.phase === 'Failed') outcome.failed = true
      if (outcome && status?.phase === 'Succeeded' && !succeeded.has(metadata.name)) outcome.migrated++
      if (status?.phase === 'Succeeded') succeeded.add(metadata.name)
    }
  }
  return all
}

function meet(
  all: Record<string, Outcome>,
  uids: Map<string, string>,
  { type, vmi }: { type: Line['type']; vmi: VirtualMachineInstance },
): void {
  const { name, uid = '', labels = {} } = vmi.metadata
  const outcome = (all[name] ??= {
    launcher: '',
    outdated: false,
    migrated: 0,
    failed: false,
    replaced: false,
  })
  const image = vmi.status?.launcherContainerImageVersion ?? ''
  if (image !== '') outcome.launcher = image.slice(image.lastIndexOf(':') + 1)
  if (type === 'DELETED') outcome.launcher = 'gone'
  outcome.outdated = type !== 'DELETED' && 'kubevirt.io/outdatedLauncherImage' in labels
  if (uids.has(name) && uids.get(name) !== uid) outcome.replaced = true
  uids.set(name, uid)
}

/** The phases that a migration which succeeded went through. */
export function phases(lines: readonly Line[]): string[] {
  const observed = new Map<string, string[]>()
  for (const { object } of lines) {
    if (object?.kind !== 'VirtualMachineInstanceMigration') continue
    const { status, metadata } = object as VirtualMachineInstanceMigration
    const list = observed.get(metadata.name) ?? []
    observed.set(metadata.name, list)
    if (status?.phase !== undefined && list.at(-1) !== status.phase) list.push(status.phase)
  }
  return [
    ...new Set(
      [...observed.values()].filter((list) => list.at(-1) === 'Succeeded').map((list) => list.join(' ')),
    ),
  ]
}

/** The highest outdated count that the CR showed up to the first time that it said "all good" for that version, and after. */
export function counts(lines: readonly Line[], version: string): { until: number; after: number } {
  const shown = lines.flatMap(({ object }) => (object?.kind === 'KubeVirt' ? [object as KubeVirt] : []))
  const done = shown.findIndex(({ status }) => status?.observedKubeVirtVersion === version)
  return { until: most(shown.slice(0, done + 1)), after: most(shown.slice(done)) }
}

function most(part: readonly KubeVirt[]): number {
  return Math.max(0, ...part.map(({ status }) => status?.outdatedVirtualMachineInstanceWorkloads ?? 0))
}
