import type { KubeObject } from '../../cluster/object.ts'
import { podsOf, type Scene, unlistedWorkloads, workloads } from '../../facts/scene.ts'
import { identifierOf, stampedVersion } from '../../facts/stamps.ts'
import type { Check, Question } from '../check.ts'
import { counted } from '../../system/counted.ts'

/** Night C7, facts 2.6 and 8 (#18057): a half-done update, or what an older one has left. */
export const mixedIdentifiers: Check = {
  id: 'mixed-identifiers',
  group: 'installation',
  title: 'every component is of one revision',
  needs: ['kubevirts', 'deployments', 'daemonsets', 'pods'],
  blocks: true,
  assess(question) {
    const { standing, target, installation } = question
    const others = stamped(question).filter((object) => identifierOf(object) !== standing.target.id)
    if (others.length === 0) return []
    const joined = target !== undefined && standing.target.version === target.text
    const versions = [...new Set(others.map((object) => stampedVersion(object) ?? 'an unknown version'))]
    return [
      {
        id: 'mixed-identifiers',
        level: joined ? 'info' : 'blocker',
        summary: `${counted(others.length, 'object', ['is', 'are'])} of ${versions.join(', ')}, not of ${standing.target.version ?? 'the target'}: a half-done update, or what one has left behind`,
        objects: others.map(({ kind, metadata }) => `${kind.toLowerCase()}/${metadata.name}`),
        remedy: [
          'kvup status',
          `kubectl -n ${installation.namespace} get deploy,ds,pods -l app.kubernetes.io/managed-by=virt-operator --show-labels`,
        ],
      },
    ]
  },
}

/** What virt-operator stamped, and the pods that it owns: ended ones do not count, a virt-operator that only manages is not of a revision, and a pod with copied stamps is nobody's. */
function stamped({ evidence: snapshot, installation, at }: Question): readonly KubeObject[] {
  const { kubevirt, deployment: operator } = installation
  const scene: Scene = { snapshot, kubevirt, operator, at }
  const own = [...workloads(scene), ...unlistedWorkloads(scene)]
  const pods = own.flatMap((workload) => podsOf(scene, workload))
  return [...own.map(({ object }) => object), ...pods].filter((object) => identifierOf(object) !== undefined)
}
