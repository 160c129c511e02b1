import type { KubeVirt } from '../../cluster/kinds/kubevirt.ts'
import { itemsOf } from '../../facts/known.ts'
import type { Check, Question } from '../check.ts'
import type { Finding } from '../finding.ts'

type Patch = NonNullable<NonNullable<NonNullable<KubeVirt['spec']>['customizeComponents']>['patches']>[number]

/** Facts 8 (#12983): the patches are laid over the target's objects too, and one that no longer fits breaks the update. */
export const customizeComponents: Check = {
  id: 'customize-components',
  group: 'installation',
  title: 'no patch in customizeComponents names what the update changes',
  needs: ['kubevirts', 'deployments', 'daemonsets'],
  needsTarget: true,
  blocks: true,
  assess(question) {
    const { patches = [] } = question.installation.kubevirt.spec?.customizeComponents ?? {}
    return patches.flatMap((patch) => {
      const risk = risks.find(({ runs }) => runs(patch, question))
      return risk ? [finding(patch, risk, question)] : []
    })
  },
}

interface Risk {
  level: Finding['level']
  runs: (patch: Patch, question: Question) => boolean
  why: string
}

/** The worst first. */
const risks: readonly Risk[] = [
  {
    level: 'blocker',
    runs: ({ patch }) => /"image"\s*:|\/image"/u.test(patch),
    why: 'names an image: the component would stay on it whatever the target is',
  },
  {
    level: 'warning',
    runs: ({ type, patch }) => type === 'json' && /"path"\s*:\s*"[^"]*\/\d+(?:\/|")/u.test(patch),
    why: 'counts list items: where the target orders them in another way it changes the wrong one, or breaks the update',
  },
  {
    level: 'warning',
    runs: ({ resourceName, resourceType }, question) => !isThere(resourceName, resourceType, question),
    why: 'is for something that is not installed',
  },
  { level: 'info', runs: () => true, why: 'is laid over the objects of the target as well' },
]

/** Only of the kinds that are looked at; other kinds are believed to be there. */
function isThere(name: string, type: string, { evidence }: Question): boolean {
  const kind = type.toLowerCase()
  if (!/^(?:deployment|daemonset)s?$/u.test(kind) || name === '*') return true
  const objects = kind.startsWith('deployment') ? evidence.deployments : evidence.daemonsets
  return itemsOf<{ metadata: { name: string } }>(objects).some(({ metadata }) => metadata.name === name)
}

function finding(
  { resourceName, resourceType, type }: Patch,
  { level, why }: Risk,
  question: Question,
): Finding {
  const { name, namespace } = question.installation
  return {
    id: 'customize-components',
    level,
    summary: `the ${type} patch for ${resourceType} ${resourceName} ${why}`,
    objects: [`${resourceType.toLowerCase()}/${resourceName}`],
    remedy: [
      `kubectl -n ${namespace} get kubevirt ${name} -o jsonpath='{.spec.customizeComponents.patches}'`,
    ],
  }
}
