import type { Installation } from '../../facts/installation.ts'
import type { Manager } from '../../facts/ownership.ts'
import type { Check } from '../check.ts'

/** Facts 1.2, night U8: what somebody else owns is set back by them. */
export const manager: Check = {
  id: 'manager',
  group: 'installation',
  title: 'nobody sets back what kvup writes',
  findings: ['managed-by-hyperconverged', 'managed-by-olm', 'managed-by-helm', 'managed-by-gitops'],
  needs: ['kubevirts', 'operators'],
  needsTarget: true,
  blocks: true,
  assess({ installation, target }) {
    const { kind } = installation.manager
    if (kind === 'plain') return []
    const words = said[kind]
    return [
      {
        id: `managed-by-${kind}`,
        level: 'blocker',
        summary: words.summary(ownerOf(installation)),
        objects: [`kubevirt/${installation.name}`],
        remedy: words.remedy(target?.text ?? 'VERSION'),
      },
    ]
  },
}

interface Words {
  summary: (owner: string) => string
  remedy: (to: string) => readonly string[]
}

const setBack: Words = {
  summary: (owner) => `KubeVirt belongs to ${owner}: what kvup writes would be set back at its next sync`,
  remedy: (to) => [`kvup upgrade --to ${to} --follow`],
}

const said: Record<Exclude<Manager['kind'], 'plain'>, Words> = {
  hyperconverged: {
    summary: (owner) => `${owner} decides which KubeVirt is installed, and reverts what is written to it`,
    remedy: () => ['kvup upgrade     says which releases of HyperConverged can be reached, and how'],
  },
  olm: {
    summary: (owner) => `OLM (${owner}) reverts what is written to virt-operator`,
    remedy: () => [
      'kubectl get installplans -A',
      'approve the one of its Subscription, then: kvup status -w',
    ],
  },
  helm: setBack,
  gitops: setBack,
}

function ownerOf({ manager: { owner, name, kind } }: Installation): string {
  return [owner ?? kind, name].filter(Boolean).join(' ')
}
