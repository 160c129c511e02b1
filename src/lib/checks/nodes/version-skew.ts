import { itemsOf } from '../../facts/known.ts'
import type { Check, Question } from '../check.ts'

/** Night C4: nodes at different versions are nodes in the middle of their own update. */
export const versionSkew: Check = {
  id: 'version-skew',
  group: 'nodes',
  title: 'all nodes run the same kubelet',
  needs: ['nodes'],
  blocks: false,
  assess(question) {
    const byVersion = nodesByVersion(question)
    if (byVersion.size < 2) return []
    const said = [...byVersion].map(([version, names]) => `${version} on ${names.length}`).join(', ')
    const fewest = [...byVersion.values()].toSorted((a, b) => a.length - b.length)[0] ?? []
    return [
      {
        id: 'version-skew',
        level: 'warning',
        summary: `the nodes run different kubelets: ${said}; an update of Kubernetes seems to be under way`,
        objects: fewest.map((name) => `node/${name}`),
        remedy: ['kubectl get nodes -o wide'],
      },
    ]
  },
}

function nodesByVersion({ evidence }: Question): Map<string, string[]> {
  const byVersion = new Map<string, string[]>()
  for (const { metadata, status } of itemsOf(evidence.nodes)) {
    const version = status?.nodeInfo?.kubeletVersion
    if (version !== undefined) byVersion.set(version, [...(byVersion.get(version) ?? []), metadata.name])
  }
  return byVersion
}
