import type { Ref } from '../kube/cluster.ts'
import type { Kind } from '../kube/object.ts'
import type { KubeVirt } from '../kube/kinds/kubevirt-kinds.ts'
import type { Override } from '../engine/journal.ts'
import { isOfWindow, restoringByName, restoringLine, upgradeTarget } from '../engine/overrides.ts'
import { narrowedLine } from '../output/kvup-words.ts'
import type { SettingsOwner } from './strategy/settings-owner.ts'

/** The one KubeVirt CR, as it was found: under the version that is served, with the uid that overrides are tied to. */
export interface Owner {
  kind: Kind<KubeVirt>
  ref: Ref & { namespace: string }
  uid: string
}

/** The journal's name of the borrowed setting. */
export const overrideId = 'workload-updates'

/** JSON pointer of the borrowed setting in the KubeVirt CR. */
export const methodsPath = '/spec/workloadUpdateStrategy/workloadUpdateMethods'

/** Empty, null and absent all mean "no automated workload update" on a plain KubeVirt (facts 1.2). */
export function methodsOf(kubevirt: KubeVirt): readonly string[] {
  return kubevirt.spec?.workloadUpdateStrategy?.workloadUpdateMethods ?? []
}

/** The order of the methods has no meaning (facts 1.2). */
export function sameMethods(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.toSorted().join() === b.toSorted().join()
}

/** `LiveMigrate, Evict`, or `none`. */
export const methodsText = (methods: readonly string[]): string => methods.join(', ') || 'none'

/** The open override on this very object; one that was taken on an earlier CR of the same name is not ours to give back. */
export function openOverride(overrides: readonly Override[], uid: string): Override | undefined {
  return overrides.find((override) => override.id === overrideId && override.object.uid === uid)
}

/** The methods as they were before they were borrowed. */
export function keptMethods(override: Override): readonly string[] {
  return override.was.present && Array.isArray(override.was.value) ? override.was.value.map(String) : []
}

/** Command that shows who writes which field of it. */
export function showWriters({ ref: { name, namespace } }: Owner): string {
  return `kubectl -n ${namespace} get kubevirts ${name} -o yaml --show-managed-fields`
}

interface Paused extends Pick<Override, 'procedure'> {
  goesBack?: string | undefined
}

/** The command that resumes automatic VM updates, and touches nothing else. */
export const resumeUpdatesLine = restoringLine(overrideId)

/** The command whose end resumes automatic VM updates: while an EUS upgrade is under way they are resumed by its end alone (`window-open`). */
export const resumingLine = (override: Paused | undefined): string =>
  override !== undefined && isOfWindow(override) ? 'kvup eus run' : resumeUpdatesLine

/** The command whose end restores every temporary change, those of VMs too; `methods` is the one of the update methods, where there is one. */
export function restoreAllLine(methods: Pick<Override, 'procedure' | 'severalMinors'> | undefined): string {
  if (methods !== undefined && isOfWindow(methods)) return 'kvup eus run'
  return (methods && pathLine(methods)) ?? 'kvup restore-settings'
}

/** The command that continues an upgrade over several minors, which resumes automatic VM updates where they may be; undefined where another run paused them. */
export function pathLine({
  procedure,
  severalMinors,
}: Pick<Override, 'procedure' | 'severalMinors'>): string | undefined {
  const target = severalMinors ? upgradeTarget(procedure) : undefined
  return target === undefined ? undefined : `kvup upgrade --to ${target}`
}

/** What moves outdated VMs while kvup holds updates: by hand and one first. In an EUS upgrade its end does; after going back KubeVirt alone may, once none runs a newer virt-launcher. */
export const moveWhilePaused = (paused: Paused, selection: Parameters<typeof narrowedLine>[1]): string =>
  isOfWindow(paused) || paused.goesBack !== undefined
    ? resumingLine(paused)
    : `${narrowedLine('kvup workloads update', selection)} --canary 1`

/** The command that ends this one override, and takes `--keep-current` and `--overwrite`. */
export const restoreLine = (override: Paused): string =>
  isOfWindow(override) ? restoringByName(overrideId) : resumeUpdatesLine

/** What resumes automatic VM updates, with what it does. None where they are not paused. */
export function heldLines(override: Paused | undefined, why = ''): readonly string[] {
  if (override === undefined) return []
  if (override.goesBack !== undefined)
    return [
      `${resumingLine(override)}     resumes automatic VM updates, once no VM runs a newer virt-launcher`,
    ]
  const inWindow = '     continues the EUS upgrade, which resumes automatic VM updates at its end'
  return [`${resumingLine(override)}${isOfWindow(override) ? inWindow : why}`]
}

/** The open override of the methods: on the object that owns them now, or on the KubeVirt CR from before a HyperConverged took it over. */
export const overrideOn = (
  { uid, kubevirt }: SettingsOwner,
  overrides: readonly Override[],
): Override | undefined => openOverride(overrides, uid) ?? openOverride(overrides, kubevirt.uid)
