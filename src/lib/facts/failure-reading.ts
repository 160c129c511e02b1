import { readRefusal } from '../cluster/refusal.ts'
import type { CauseKind } from './cause.ts'

/** What the text of a DeploymentFailed comes down to. */
export interface FailureReading {
  kind: Extract<CauseKind, 'forbidden' | 'webhook' | 'stored-versions' | 'canary' | 'refused'>
  message: string
  /** Commands that show it or lead out of it. */
  look: readonly string[]
}

interface Place {
  namespace: string
  /** What is to be installed. */
  target: string | undefined
}

type Reading = (text: string, place: Place) => FailureReading | undefined

/** The first reading that fits; undefined for a text that is told as it is. */
export function readFailure(text: string, place: Place): FailureReading | undefined {
  for (const reading of readings) {
    const found = reading(text, place)
    if (found) return found
  }
  return undefined
}

function refused(text: string, { namespace }: Place): FailureReading | undefined {
  const found = readRefusal(text, namespace)
  if (!found) return undefined
  const { message, look } = found
  return { kind: found.is === 'quota' ? 'refused' : 'webhook', message, look }
}

/** `clusterroles… "kubevirt.io:admin" is forbidden: … permissions not currently held: {…}` in one line (lab 13). */
function rbacRefusal(text: string, { target }: Place): FailureReading | undefined {
  const object = /(\S+) "([^"]+)" is forbidden:/.exec(text)
  if (!object) return undefined
  const [, resource = '', name = ''] = object
  const what = `${resource.split('.', 1)[0]} ${name}`
  const refusal = text.slice(object.index)
  const verb = /\bcannot (\S+) resource\b/.exec(refusal)?.[1]
  return {
    kind: 'forbidden',
    message: verb
      ? `may not ${verb} ${what}`
      : `may not grant what the new version needs: ${what} is forbidden${missingRights(refusal)}`,
    look: target ? [`kvup upgrade --to ${target} --method operator-manifest`] : [],
  }
}

function missingRights(refusal: string): string {
  const groups = [...refusal.matchAll(/APIGroups:\[([^\]]*)\]/g)].map((match) => match[1])
  const missing = [...new Set(groups)].map((group) => group?.replaceAll('"', '')).filter(Boolean)
  return missing.length > 0 ? `, rights on ${missing.join(', ')} are missing` : ''
}

/** Facts 1.6: a version that is still stored cannot be dropped from a CRD. */
function storedVersions(text: string, { target }: Place): FailureReading | undefined {
  const crd = /"([^"]+)" is invalid: .*status\.storedVersions/s.exec(text)?.[1]
  if (crd === undefined) return undefined
  const versions = [...text.matchAll(/storedVersions\[\d+\]: Invalid value: "([^"]+)"/g)].map(([, v]) => v)
  return {
    kind: 'stored-versions',
    message: `${crd} has objects stored as ${versions.join(' and ')}`,
    look: [
      ...(target ? [`kvup check --to ${target}`] : []),
      `kubectl get crd ${crd} -o jsonpath='{.status.storedVersions}'`,
    ],
  }
}

/** Facts 2.8: its first new pod ended, or more pods are ready than it wants. */
function canary(text: string, { namespace }: Place): FailureReading | undefined {
  const counts =
    /unexpected canary upgrade state(?:: updatedAndReadyPods=(\d+), desiredReadyPods=(\d+))?/.exec(text)
  const failed = /daemonSet (\S+) rollout failed/.exec(text)
  if (!counts && !failed) return undefined
  const name = failed?.[1] ?? 'virt-handler'
  const more = counts?.[1] ? `${counts[1]} updated pods are ready where ${counts[2]} are wanted` : undefined
  return {
    kind: 'canary',
    message: failed ? `the first new pod of ${name} ended` : (more ?? 'more pods are ready than are wanted'),
    look: [`kubectl -n ${namespace} get pods -l kubevirt.io=${name} -o wide`],
  }
}

/** A quota's refusal says "is forbidden" as well, so it comes first. */
const readings: readonly Reading[] = [refused, rbacRefusal, storedVersions, canary]
