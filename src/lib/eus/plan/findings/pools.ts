import type { Finding } from '../../../checks/finding.ts'
import { shellWord } from '../../../system/shell-word.ts'
import { isMidWindow, type Judged } from '../judged.ts'
import { isBorrowed, type JudgedPool } from '../sight.ts'
import { unreadRemedy } from './unread-remedy.ts'

/** Night E5: before anything is paused every pool is through with what it has to do. */
export function poolFindings(judged: Judged): readonly Finding[] {
  const { evidence, pools } = judged.sight
  if (!evidence.platform.pools.known) return [unread(evidence.platform.pools.why)]
  return [
    ...pools.filter(({ state }) => state === 'degraded').map(degraded),
    ...pools.filter(({ isMaster, paused }) => isMaster && paused).map(masterPaused),
    ...pausedAlready(judged),
    ...notUpdated(judged),
  ]
}

const names = (pools: readonly JudgedPool[]): string => pools.map(({ name }) => name).join(', ')
const objects = (pools: readonly JudgedPool[]): string[] =>
  pools.map(({ name }) => `machineconfigpool/${name}`)
const unpause = ({ name }: JudgedPool): string =>
  `oc patch machineconfigpool ${shellWord(name)} --type=merge -p '{"spec":{"paused":false}}'`

const unread = (why: string): Finding => ({
  id: 'pools-not-updated',
  level: 'not-checked',
  summary: `whether every machine config pool is updated: ${why}`,
  remedy: [unreadRemedy(why)],
})

const degraded = (pool: JudgedPool): Finding => ({
  id: 'pool-degraded',
  level: 'blocker',
  summary: `pool ${pool.name} is degraded: ${pool.message || 'it does not say why'}`,
  objects: objects([pool]),
  remedy: [`oc describe machineconfigpool ${shellWord(pool.name)}`],
})

const masterPaused = (pool: JudgedPool): Finding => ({
  id: 'master-paused',
  level: 'blocker',
  summary: `pool ${pool.name} is paused: the platform cannot be updated while it is`,
  objects: objects([pool]),
  remedy: [unpause(pool)],
})

/** Those that kvup has not borrowed are somebody's decision, and not given back by it. In a window that was begun by hand they are the window. */
function pausedAlready(judged: Judged): readonly Finding[] {
  const { sight, route } = judged
  const foreign = sight.pools.filter(
    ({ name, paused, isMaster }) => paused && !isMaster && !isBorrowed(sight, `pool-paused/${name}`),
  )
  if (foreign.length === 0) return []
  const inWindow = isMidWindow(judged) && route.way === 'control-plane-only'
  const why = inWindow
    ? 'a window was begun by hand; kvup leaves them paused at the end'
    : 'not by kvup, which neither counts on it nor gives it back'
  return [
    {
      id: 'pool-paused-already',
      level: 'blocker',
      summary: `${foreign.length === 1 ? 'pool' : 'pools'} ${names(foreign)} ${foreign.length === 1 ? 'is' : 'are'} paused: ${why}`,
      objects: objects(foreign),
      remedy: inWindow
        ? ['kvup eus plan --accept pool-paused-already      goes on with them as they are']
        : foreign.map(unpause),
    },
  ]
}

/** One that is paused and behind is the finding above, or the window itself. */
function notUpdated({ sight }: Judged): readonly Finding[] {
  const busy = sight.pools.filter(({ state, isMaster, paused }) =>
    isMaster
      ? state === 'updating' || state === 'pending'
      : !paused && ['updating', 'pending'].includes(state),
  )
  if (busy.length === 0) return []
  const how = busy.map(({ name, updated, machines }) => `${name} (${updated} of ${machines} machines)`)
  return [
    {
      id: 'pools-not-updated',
      level: 'blocker',
      summary: `not every machine config pool is updated: ${how.join(', ')}. What is pending when a pool is paused does not reach its nodes`,
      objects: objects(busy),
      remedy: ['oc get machineconfigpools      until each is UPDATED=True and UPDATING=False'],
    },
  ]
}
