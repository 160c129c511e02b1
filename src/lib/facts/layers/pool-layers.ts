import type { MachineConfigPool } from '../../cluster/kinds/openshift.ts'
import type { Known } from '../known.ts'
import { type PoolStanding, poolStanding } from '../openshift/pool-standing.ts'
import type { RecognisedWindow } from './recognised-window.ts'
import type { Layer } from './layer.ts'

/** One per pool that has machines or something to tell, the master first: the platform's update needs it first. */
export function poolLayers(pools: Known<MachineConfigPool>, window: RecognisedWindow | undefined): Layer[] {
  if (!pools.known) return [{ layer: 'pool', verdict: 'Unknown', says: pools.why }]
  return pools.items
    .map(poolStanding)
    .filter(({ machines, state, paused }) => machines > 0 || state === 'degraded' || paused)
    .toSorted((a, b) => Number(b.isMaster) - Number(a.isMaster))
    .map((pool) => layerOf(pool, window))
}

function layerOf(pool: PoolStanding, window: RecognisedWindow | undefined): Layer {
  const found = pool.isMaster && pool.paused ? pausedMaster(pool) : judged[pool.state](pool, window)
  return { layer: 'pool', object: `machineconfigpool/${pool.name}`, ...found }
}

type Judged = Pick<Layer, 'verdict' | 'says' | 'waitsFor' | 'expected' | 'notes' | 'help'>
type Judge = (pool: PoolStanding, window: RecognisedWindow | undefined) => Judged

const counts = ({ updated, machines }: PoolStanding): string => `${updated} of ${machines} updated`

const said = ({ message }: PoolStanding): string[] => (message === '' ? [] : [message])

const judged: Record<PoolStanding['state'], Judge> = {
  updated: (pool) => ({
    verdict: 'Settled',
    says: `${counts(pool)}${pool.paused ? ', paused with nothing to do' : ''}`,
  }),
  updating: (pool) => ({
    verdict: 'Updating',
    says: counts(pool),
    waitsFor: 'its other machines to be drained and rebooted',
    notes: said(pool),
  }),
  pending: (pool) => ({
    verdict: 'Updating',
    says: `${counts(pool)}, not begun`,
    waitsFor: 'the machine config controller to begin',
  }),
  'paused-pending': (pool, window) => ({
    verdict: 'Waiting',
    says: `paused, ${counts(pool)}`,
    ...(window
      ? { expected: 'in an EUS window', waitsFor: 'the end of the window' }
      : { waitsFor: 'somebody to unpause it', help: [unpause(pool)] }),
  }),
  degraded: (pool) => ({
    verdict: 'Degraded',
    says: `${counts(pool)}, ${pool.degraded} degraded`,
    notes: said(pool),
    help: [`oc describe machineconfigpool ${pool.name}`],
  }),
}

function pausedMaster(pool: PoolStanding): Judged {
  return {
    verdict: 'Stalled',
    says: `paused, ${counts(pool)}: the platform cannot be updated`,
    waitsFor: 'somebody to unpause it',
    help: [unpause(pool)],
  }
}

const unpause = ({ name }: PoolStanding): string =>
  `oc patch machineconfigpool ${name} --type merge -p '{"spec":{"paused":false}}'`
