import { kubeVirtOf, openOverrides } from './installation.ts'
import { type Outcome, startKvup } from './kvup.ts'
import type { Lab } from './lab.ts'

/** Dense where a run writes, and over the whole of an update that takes a minute. */
const ever = [0.4, 0.8, 1.2, 1.8, 2.5, 4, 6, 8, 10, 12]

/** What became of a command that was killed and started again. */
interface Killed {
  kills: number
  /** The run that came to its end before it was killed; undefined where none did. */
  ended: Outcome | undefined
}

/**
 * Starts the same command again and again and kills it, each time a little later, or at the moments given (seconds from start to SIGKILL), until one comes to its
 * end. Throws when a kill left the methods changed with no loan that says what they were.
 */
export async function killedOverAndOver(
  lab: Lab,
  args: readonly string[],
  moments: readonly number[] = ever,
): Promise<Killed> {
  const before = JSON.stringify((await kubeVirtOf(lab)).spec.workloadUpdateStrategy)
  let kills = 0
  for (const seconds of moments) {
    const run = startKvup(lab, args)
    const timer = setTimeout(() => run.signal('SIGKILL'), seconds * 1000)
    const ended = await run.ended
    clearTimeout(timer)
    if (ended.code === 0) return { kills, ended }
    if (ended.code !== 137) throw new Error(`kvup ended with ${ended.code} on its own:\n${ended.stderr}`)
    kills++
    const now = JSON.stringify((await kubeVirtOf(lab)).spec.workloadUpdateStrategy)
    if (now !== before && (await openOverrides(lab)).length === 0)
      throw new Error(`the methods were ${before}, are ${now}, and no loan is open`)
  }
  return { kills, ended: undefined }
}
