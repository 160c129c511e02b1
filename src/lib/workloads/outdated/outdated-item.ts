import type { VirtualMachineInstance } from '../../cluster/kinds/virtual-machines.ts'
import { condition } from '../../cluster/object.ts'
import { parseImage } from '../../facts/image.ts'
import { versionOf } from '../../releases/version.ts'
import type { Fate } from '../fate.ts'
import type { Machine } from './behind.ts'
import { effectiveEviction } from './decision.ts'
import { type Outlook, outlookOf } from './outlook.ts'
import type { Reason } from './reasons.ts'
import type { OutlookRules } from './rules.ts'

/** One outdated VMI, as a row and as an item of the document. Times are RFC 3339. */
export interface OutdatedItem {
  namespace: string
  name: string
  node?: string
  launcher: { image?: string; version?: string; old: boolean }
  /** When the VMI was made. */
  since?: string
  /** The condition LiveMigratable; Unknown where it has none. */
  migratable: { status: 'True' | 'False' | 'Unknown'; reason?: string; message?: string }
  /** The VMI's own strategy was frozen when it was made; where it has none the cluster's holds, and where there is none, None. */
  evictionStrategy: { value?: string; from: 'vmi' | 'cluster' | 'default' | 'unknown' }
  /** Absent: the methods may not be read. */
  will?: Fate
  why: readonly Reason[]
  /** Volumes whose content goes with its pod. */
  loses: readonly string[]
  remedy: readonly string[]
}

/** `rules` undefined: what decides may not be read, and nothing is claimed. Pure. */
export function outdatedItem(
  vmi: VirtualMachineInstance,
  vm: Machine | undefined,
  rules: OutlookRules | undefined,
): OutdatedItem {
  const { metadata, status } = vmi
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    ...(status?.nodeName && { node: status.nodeName }),
    launcher: launcherOf(status?.launcherContainerImageVersion, rules),
    ...(metadata.creationTimestamp && { since: metadata.creationTimestamp }),
    migratable: migratableOf(vmi),
    evictionStrategy: evictionOf(vmi, rules),
    ...(rules ? outlookPart(outlookOf(vmi, vm, rules)) : { why: [], loses: [], remedy: [] }),
  }
}

function outlookPart({ fate, ...rest }: Outlook): Pick<OutdatedItem, 'will' | 'why' | 'loses' | 'remedy'> {
  return { will: fate, ...rest }
}

function launcherOf(image: string | undefined, rules: OutlookRules | undefined): OutdatedItem['launcher'] {
  if (!image) return { old: false }
  const known = rules?.launcher?.(image)
  const version = known ? known.version : versionOf(parseImage(image).tag)?.text
  return { image, ...(version && { version }), old: known?.old ?? false }
}

function migratableOf(vmi: VirtualMachineInstance): OutdatedItem['migratable'] {
  const { status = 'Unknown', reason, message } = condition(vmi, 'LiveMigratable') ?? {}
  return { status, ...(reason && { reason }), ...(message && { message }) }
}

function evictionOf(
  vmi: VirtualMachineInstance,
  rules: OutlookRules | undefined,
): OutdatedItem['evictionStrategy'] {
  const own = vmi.spec?.evictionStrategy
  if (own !== undefined) return { value: own, from: 'vmi' }
  if (rules === undefined) return { from: 'unknown' }
  return { value: effectiveEviction(vmi, rules), from: rules.clusterEviction ? 'cluster' : 'default' }
}
