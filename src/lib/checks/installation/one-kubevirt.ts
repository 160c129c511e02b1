import { itemsOf } from '../../facts/known.ts'
import type { Check } from '../check.ts'

/** Facts 1.7: the operator follows one, and a webhook refuses the second; one that is older than the webhook stays. */
export const oneKubeVirt: Check = {
  id: 'one-kubevirt',
  group: 'installation',
  title: 'there is one KubeVirt resource',
  needs: ['kubevirts'],
  blocks: true,
  assess({ evidence, installation }) {
    const others = itemsOf(evidence.kubevirts).filter(({ metadata }) => metadata.uid !== installation.uid)
    if (others.length === 0) return []
    const names = others.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)
    return [
      {
        id: 'one-kubevirt',
        level: 'blocker',
        summary: `virt-operator follows ${installation.namespace}/${installation.name}; nobody follows ${names.join(', ')}`,
        objects: names.map((name) => `kubevirt/${name}`),
        remedy: others.map(
          ({ metadata }) => `kubectl -n ${metadata.namespace} delete kubevirt ${metadata.name}`,
        ),
      },
    ]
  },
}
