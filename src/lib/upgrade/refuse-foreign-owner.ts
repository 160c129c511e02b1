import type { Installation } from '../facts/installation.ts'
import { blocked, type KvupError, usageError } from '../system/errors.ts'
import type { UpgradeRequest } from './plan.ts'

type Asked = Pick<UpgradeRequest, 'follow' | 'method' | 'olm'>

/** Throws `blocked` where somebody else sets back what this method writes, or where its owner is not the one that the method is for. */
export function refuseForeignOwner(installation: Installation, asked: Asked): void {
  const { kind } = installation.manager
  if (kind === 'hyperconverged') {
    if (!isByOlm(asked)) throw ofHyperConverged(installation, asked)
    return
  }
  if (kind === 'olm') throw ofOlm(installation)
  if (asked.method === 'olm') throw ofNoHyperConverged(installation, asked)
  const foreign = kind === 'helm' || kind === 'gitops'
  if (asked.follow && !foreign)
    throw usageError(
      'nobody-to-follow',
      '--follow is for a KubeVirt that Helm or GitOps owns; here kvup does it itself',
    )
}

const isByOlm = ({ method, follow }: Asked): boolean => (method === 'auto' || method === 'olm') && !follow

const nameOf = ({ name, namespace }: Installation): string => `kubevirts/${name} in namespace ${namespace}`

function ofHyperConverged(installation: Installation, { olm }: Asked): KvupError {
  const object = nameOf(installation)
  const owner = `HyperConverged ${installation.manager.name ?? ''}`.trimEnd()
  return blocked(
    'managed-by-hyperconverged',
    `${object} belongs to ${owner}: its operator reverts what is written to KubeVirt`,
    {
      object,
      remedy: [
        `kvup upgrade --to ${olm.typed} --method olm     approves the InstallPlan that brings it, and waits`,
        'kvup status shows how far it is',
      ],
    },
  )
}

function ofOlm(installation: Installation): KvupError {
  const object = nameOf(installation)
  const owner = `ClusterServiceVersion ${installation.manager.name ?? ''}`.trimEnd()
  return blocked('managed-by-olm', `virt-operator belongs to ${owner}: OLM reverts what is written to it`, {
    object,
    remedy: 'upgrade through OLM: approve the InstallPlan of its Subscription',
  })
}

function ofNoHyperConverged(installation: Installation, { olm }: Asked): KvupError {
  const object = nameOf(installation)
  return blocked(
    'no-hyperconverged',
    `${object} belongs to no HyperConverged: the method olm is for those that one owns`,
    { object, remedy: `kvup upgrade --to ${olm.typed}     by the method that fits` },
  )
}
