import { kubeVirtOf, openLoans } from './installation.ts'
import { startKvup } from './kvup.ts'
import type { Lab } from './lab.ts'

/** Seconds from start to SIGKILL: dense where a run writes, and over the whole of an update that takes a minute. */
const moments = [0.4, 0.8, 1.2, 1.8, 2.5, 4, 6, 8, 10, 12]

/**
 * Starts the same command again and again and kills it, each time a little later. Returns how many runs were really
 * killed. Throws when a kill left the methods changed with no loan that says what they were.
 */
export async function killedOverAndOver(lab: Lab, args: readonly string[]): Promise<number> {
  const before = JSON.stringify((await kubeVirtOf(lab)).spec.workloadUpdateStrategy)
  let kills = 0
  for (const seconds of moments) {
    const run = startKvup(lab, args)
    const timer = setTimeout(() => run.signal('SIGKILL'), seconds * 1000)
    const { code, stderr } = await run.ended
    clearTimeout(timer)
    if (code === 0) break
    if (code !== 137) throw new Error(`kvup ended with ${code} on its own:\n${stderr}`)
    kills++
    const now = JSON.stringify((await kubeVirtOf(lab)).spec.workloadUpdateStrategy)
    if (now !== before && (await openLoans(lab)).length === 0)
      throw new Error(`the methods were ${before}, are ${now}, and no loan is open`)
  }
  return kills
}
