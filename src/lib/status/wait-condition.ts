import { parseVersion } from '../releases/release-versions.ts'
import { usageError } from '../kube/errors.ts'
import { counted, nearest } from '../kube/text.ts'
import type { StatusReport } from './status-report.ts'

/** What can be waited for; `text` is how it was typed. */
export type WaitCondition =
  | { is: 'healthy'; text: string }
  | { is: 'version'; text: string; version: string }
  | { is: 'workloads'; text: string }
  | { is: 'pools'; text: string }

/** As they are typed; what ends in `=` wants a value. */
export const waitConditions: readonly string[] = ['healthy', 'version=', 'workloads=0', 'pools-updated']

/** What a person typed. Throws `usage` for anything else, with what there is. */
export function parseWaitCondition(typed: string): WaitCondition {
  if (typed === 'healthy') return { is: 'healthy', text: typed }
  if (typed === 'workloads=0') return { is: 'workloads', text: typed }
  if (typed === 'pools-updated') return { is: 'pools', text: typed }
  if (!typed.startsWith('version=')) throw noSuchCondition(typed)
  const version = parseVersion(typed.slice('version='.length)).text
  return { is: 'version', text: `version=${version}`, version }
}

function noSuchCondition(typed: string): Error {
  const meant = nearest(typed, ['healthy', 'workloads=0', 'pools-updated'])
  return usageError('no-such-condition', `there is no condition ${JSON.stringify(typed)} to wait for`, {
    remedy: [...(meant === undefined ? [] : [`did you mean ${meant}?`]), those],
  })
}

const those = '--for takes healthy, version=VERSION, workloads=0 or pools-updated'

/**
 * What one look lacks for the condition, in words; undefined when it holds. Pure. Of `workloads=0` that is what the labels say: whether
 * they are true yet is another question (`newControllerLeads`).
 */
export function missingFor(condition: WaitCondition, report: StatusReport): string | undefined {
  if (report.verdict !== 'Healthy')
    return report.waitingFor ?? report.why?.[0]?.sentence ?? 'KubeVirt to be healthy'
  if (condition.is === 'version') return missingOfVersion(condition.version, report)
  return condition.is === 'workloads' ? missingOfWorkloads(report) : undefined
}

function missingOfVersion(version: string, { observed }: StatusReport): string | undefined {
  const now = observed?.version
  if (now === version) return undefined
  return `version ${version}: KubeVirt is healthy at ${now ?? 'a version that it does not name'}`
}

function missingOfWorkloads({ workloads }: StatusReport): string | undefined {
  const { labelled } = workloads.outdated
  if (labelled === undefined) return 'the VMIs, which kvup may not read'
  return labelled === 0 ? undefined : `${counted(labelled, 'outdated VM')} to move`
}
