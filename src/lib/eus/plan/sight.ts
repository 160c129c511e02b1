import type { MachineConfigPool } from '../../cluster/kinds/openshift.ts'
import { itemsOf } from '../../facts/known.ts'
import type { RecognisedWindow } from '../../facts/layers/recognised-window.ts'
import { type PlatformStanding, platformStanding } from '../../facts/openshift/platform-standing.ts'
import { type PoolStanding, poolStanding } from '../../facts/openshift/pool-standing.ts'
import { type Topology, topologyOf } from '../../facts/openshift/topology.ts'
import { minorOfPlatform, platformVersionOf } from '../../releases/platform-version.ts'
import { blocked, forbidden, usageError } from '../../system/errors.ts'
import { roleRemedy } from '../../system/role-remedy.ts'
import type { EusPlan } from '../eus-plan.ts'
import type { EusEvidence } from './evidence.ts'
import { windowIn } from './window-in.ts'

/** What the evidence says of the platform, judged once. */
export interface EusSight {
  evidence: EusEvidence
  standing: PlatformStanding
  pools: readonly JudgedPool[]
  topology: Topology
  flavour: EusPlan['flavour']
  /** The control plane's release: the one that is being updated to, where it is. */
  release: string
  /** Its minor. */
  here: string
  /** The minor where the open window began: of the oldest kubelet in its pools; `here` where none is behind. */
  began: string
  /** The window that is open, whoever began it. */
  window: RecognisedWindow | undefined
}

export type JudgedPool = PoolStanding & { pool: MachineConfigPool }

const judgedPool = (pool: MachineConfigPool): JudgedPool => ({ ...poolStanding(pool), pool })

/** Throws `blocked` where this is no OKD or OpenShift, or one that is still being installed; `forbidden` where that cannot be told. */
export function sightOf(evidence: EusEvidence): EusSight {
  const { clusterVersion } = evidence.platform
  if (!clusterVersion.known) throw unread(clusterVersion.why)
  const [cv] = clusterVersion.items
  if (cv === undefined)
    throw blocked('no-cluster-version', 'this is no OKD or OpenShift: there is no ClusterVersion', {
      remedy: 'kvup plan --to VERSION      plans an update of KubeVirt alone',
    })
  const standing = platformStanding(cv)
  const release = standing.state === 'idle' ? standing.version : (standing.target ?? standing.version)
  if (release === undefined || minorOfPlatform(release) === '')
    throw blocked('platform-version-unknown', `the ClusterVersion does not say which release it runs`, {
      remedy: 'oc get clusterversion version -o yaml',
    })
  const pools = itemsOf(evidence.platform.pools).map(judgedPool)
  const here = minorOfPlatform(release)
  const window = windowIn(evidence)
  return {
    evidence,
    standing,
    pools,
    topology: topologyOf(evidence.platform),
    flavour: flavourOf(release, standing.channel),
    release,
    here,
    began: window?.from ?? here,
    window,
  }
}

function unread(why: string): Error {
  const message = `cannot tell which platform this is: ${why}`
  // Of a saved cluster no right would bring it.
  return / does not hold /u.test(why)
    ? usageError('not-saved', message, {
        remedy: 'oc get clusterversions,clusteroperators,machineconfigpools,nodes -o yaml >platform.yaml',
      })
    : forbidden('clusterversion-not-readable', message, { remedy: roleRemedy('kvup-view') })
}

function flavourOf(release: string, channel = ''): EusPlan['flavour'] {
  const version = platformVersionOf(release)
  const rest = version?.build ?? version?.prerelease ?? ''
  return rest.includes('okd') || /scos|^stable-4$/u.test(channel) ? 'okd' : 'ocp'
}

/** Whether kvup itself has borrowed it, by the id of the loan: `pool-paused/worker`. */
export function isBorrowed({ evidence }: Pick<EusSight, 'evidence'>, id: string): boolean {
  return itemsOf(evidence.loans).some((loan) => loan.id === id)
}
