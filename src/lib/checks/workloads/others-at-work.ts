import type { Node } from '../../cluster/kinds/core.ts'
import { itemsOf } from '../../facts/known.ts'
import type { Check, Question } from '../check.ts'
import { counted } from '../../system/counted.ts'
import type { Finding } from '../finding.ts'
import { someOf } from '../../system/some-of.ts'
import { instancesOf } from './instances-of.ts'

/** Night C4: what moves VMs or takes nodes away while virt-handler rolls. Mixed kubelets are `version-skew`, drains `node-drained`. */
export const othersAtWork: Check = {
  id: 'others-at-work',
  group: 'workloads',
  title: 'nobody else is about to move VMs or restart nodes',
  needs: ['nodes', 'instances', 'others'],
  blocks: false,
  assess: (question) => [...cordonedWithVms(question), ...rolling(question), ...others(question)],
}

function cordonedWithVms(question: Question): Finding[] {
  const { nodes: held } = instancesOf(question)
  const found = itemsOf(question.evidence.nodes)
    .filter(({ spec, metadata }) => spec?.unschedulable && (held[metadata.name] ?? 0) > 0)
    .map(({ metadata }) => metadata.name)
  const [first] = found
  if (first === undefined) return []
  const vms = found.reduce((sum, name) => sum + (held[name] ?? 0), 0)
  return [
    {
      id: 'others-at-work',
      level: 'warning',
      summary: `${counted(found.length, 'cordoned node', ['holds', 'hold'])} ${counted(vms, 'running VM')} (${someOf(found)}): somebody may be about to drain`,
      objects: found.map((name) => `node/${name}`),
      remedy: [`kubectl describe node ${first}`, `kubectl uncordon ${first}`],
    },
  ]
}

/** Nodes that a pool of OpenShift, a cluster autoscaler or Cluster API is changing or about to delete. */
function rolling({ evidence }: Question): Finding[] {
  const found = itemsOf(evidence.nodes).filter(isChanging)
  const [first] = found
  if (!first) return []
  const names = found.map(({ metadata }) => metadata.name)
  return [
    {
      id: 'others-at-work',
      level: 'warning',
      summary: `${counted(found.length, 'node', ['is', 'are'])} being changed or removed by its pool: ${someOf(names)}`,
      objects: names.map((name) => `node/${name}`),
      remedy: [`kubectl describe node ${first.metadata.name}`],
    },
  ]
}

const machineConfig = 'machineconfiguration.openshift.io'
const leaving =
  /^(?:ToBeDeletedByClusterAutoscaler|DeletionCandidateOfClusterAutoscaler|karpenter\.sh\/disrupted)$/u

function isChanging({ metadata: { annotations = {} }, spec }: Node): boolean {
  const [current, desired] = ['currentConfig', 'desiredConfig'].map(
    (key) => annotations[`${machineConfig}/${key}`],
  )
  return current !== desired || (spec?.taints ?? []).some(({ key }) => leaving.test(key))
}

function others({ evidence }: Question): Finding[] {
  return itemsOf(evidence.others).map(({ kind, name, what }) => ({
    id: 'others-at-work',
    level: 'warning',
    summary: `${kind} ${name}: ${what}`,
    objects: [`${kind.toLowerCase()}/${name}`],
    remedy: [lookAt(kind, name)],
  }))
}

/** Names are `namespace/name` where the kind has one. */
function lookAt(kind: string, name: string): string {
  const [namespace, rest] = name.includes('/') ? name.split('/') : [undefined, name]
  return `kubectl ${namespace === undefined ? '' : `-n ${namespace} `}get ${kind.toLowerCase()} ${rest} -o yaml`
}
