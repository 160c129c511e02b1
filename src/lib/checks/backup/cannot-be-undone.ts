import { laterCrdVersions } from '../../releases/later-crd-versions.ts'
import type { Check, Question } from '../check.ts'
import { enters, hopOf } from '../hop-of.ts'

/** Facts 7, night U4 and C7: said plainly, before. */
export const cannotBeUndone: Check = {
  id: 'cannot-be-undone',
  group: 'backup',
  title: 'everything in this hop can be undone',
  needs: ['kubevirts'],
  needsTarget: true,
  blocks: false,
  assess(question) {
    if (isThereAlready(question)) return []
    return [
      {
        id: 'cannot-be-undone',
        level: 'info',
        summary: whatStays(question).join('; '),
        remedy: ['kubectl get vm,vmi -A -o yaml > virtual-machines.yaml', ...etcdSaved(question)],
      },
    ]
  },
}

/** Installed completely, and nothing else on its way: there is nothing to undo. */
function isThereAlready({ standing: { observed, target: underWay }, target }: Question): boolean {
  return observed.version === target?.text && underWay.version === target?.text
}

/** OLM runs on other clusters too. */
function etcdSaved({ method }: Question): readonly string[] {
  return method === 'olm'
    ? [
        '/usr/local/bin/cluster-backup.sh /home/core/assets/backup     saves etcd, on a control plane node of OKD or OpenShift',
        'etcdctl snapshot save etcd.db     elsewhere',
      ]
    : ['etcdctl snapshot save etcd.db']
}

function whatStays(question: Question): readonly string[] {
  const hop = hopOf(question)
  const dropped = question.releases.droppedCrdVersions.filter((one) => hop && enters(hop, one.in))
  const later = hop ? laterCrdVersions(hop.from, question.releases, hop.to) : []
  const stored = later.map(({ group, versions }) => `${group} as ${versions.join(' and ')}`)
  return [
    question.method === 'olm'
      ? 'once the InstallPlan is approved nothing goes back to the release before: OLM knows no downgrade, and takes the new HyperConverged and KubeVirt to the end'
      : stored.length > 0
        ? `there is no way back once virt-operator has replaced the CRDs: ${hop?.to.text} stores ${stored.join(' and ')}, which ${hop?.from.text} does not have`
        : 'going back is not supported once virt-controller is new',
    'a VM on the new virt-launcher cannot migrate to an old one',
    'how old the last backup of etcd is cannot be seen from here',
    ...dropped.map(({ group, versions }) => `${group} is never again served as ${versions.join(' or ')}`),
  ]
}
