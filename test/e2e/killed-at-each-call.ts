import type { Cluster } from '../../src/lib/kube/cluster.ts'
import type { Context } from '../../src/context.ts'
import { mortal } from '../scenario/mortal-cluster.ts'
import { briskClock, processOn } from './in-process.ts'

const options = { accept: [], timeout: '5m' }
let pid = 1000

type Command = (cx: Context, with_: typeof options) => Promise<number>

/** In this process, as one of its own: its exit code, or what it threw. */
export const run = (command: Command, on: Cluster): Promise<unknown> =>
  command(processOn(on, ++pid, briskClock).cx, options).catch((error: unknown) => error)

/** How often it was killed, and how often right after a write. */
interface Kills {
  calls: number
  writes: number
}

/**
 * Killed at its first call to the server, its second, and so on, reads and the lock's own among them, until it comes to its end: the
 * server acted on the call and nobody heard the answer. `afterwards` finds what was left and makes it as it was before.
 */
export async function killedAtEachCall(
  command: Command,
  cluster: Cluster,
  afterwards: () => Promise<void>,
): Promise<Kills> {
  const kills = { calls: 0, writes: 0 }
  for (let call = 1; ; call++) {
    let isWrite = false
    const told = tellingWrites(cluster, (now) => (isWrite = now))
    const dying = mortal(told, { afterCall: call })
    const ended = run(command, dying)
    await Promise.race([dying.death, ended])
    await ended
    await afterwards()
    if (!dying.dead()) return kills
    kills.calls++
    if (isWrite) kills.writes++
  }
}

/**
 * The server is asked once for each right: half of all calls would be such questions, which leave nothing behind. To a run they are
 * calls as before, at which it can be killed.
 */
export function rememberingRights({ reader, writer, reviewer }: Cluster): Cluster {
  const answers = new Map<string, ReturnType<typeof reviewer.can>>()
  const can: typeof reviewer.can = (access) => {
    const question = JSON.stringify(access)
    const answer = answers.get(question) ?? reviewer.can(access)
    answers.set(question, answer)
    return answer
  }
  return { reader, writer, reviewer: { can, whoAmI: () => reviewer.whoAmI(), dryRun: reviewer.dryRun } }
}

/** Told with every call whether it is a write. */
function tellingWrites({ reader, writer, reviewer }: Cluster, tell: (isWrite: boolean) => void): Cluster {
  const telling = <T extends object>(part: T, isWrite: boolean): T =>
    new Proxy(part, {
      get(target, name, receiver) {
        const member: unknown = Reflect.get(target, name, receiver)
        if (typeof member !== 'function') return member
        return (...args: unknown[]): unknown => {
          tell(isWrite)
          return Reflect.apply(member, target, args)
        }
      },
    })
  return { reader: telling(reader, false), writer: telling(writer, true), reviewer: telling(reviewer, false) }
}
