import { theInstallation } from '../../lib/kubevirt/installation.ts'
import { takeSnapshot } from '../../lib/kubevirt/snapshot.ts'
import { configMapJournal } from '../../lib/engine/journal-config-map.ts'
import type { ReadContext } from '../../lib/engine/step.ts'
import { knownReleases } from '../../lib/releases/releases.ts'
import { RestartRun } from '../../lib/vms/waves/restart-run.ts'
import { restartWaves } from '../../lib/vms/waves/restart-procedure.ts'
import { UpdateRun, type UpdateWanted } from '../../lib/vms/waves/update-run.ts'
import { updateWaves } from '../../lib/vms/waves/update-procedure.ts'
import { type Wave, type WaveBy, waveTitle } from '../../lib/vms/waves/waves.ts'
import { updateCommand } from '../workloads/update.ts'
import { typedUpdate, type UpdateOptions } from '../../lib/vms/waves/wave-run.ts'
import { type Asked, clusterOf, last, type Source } from './asked.ts'

/** The waves of the line before the cursor, by the ids that --until and --pause-before take. */
export const waveIds: Source = async (asked, offer) => {
  const { waves, by } = await wavesOfLine(asked)
  for (const wave of waves) offer({ value: wave.id, description: waveTitle(wave, by) })
}

/** What --waves may name; of several, the next one. */
export const waveValues: Source = async (asked, offer) => {
  const typed = asked.typed.split(',').slice(0, -1)
  const before = typed.map((value) => `${value},`).join('')
  const { waves, by } = await wavesOfLine(asked)
  for (const wave of waves)
    if (wave.value !== undefined && !typed.includes(wave.value))
      offer({ value: `${before}${wave.value}`, description: waveTitle(wave, by) })
}

async function wavesOfLine(asked: Asked): Promise<{ waves: readonly Wave[]; by: WaveBy }> {
  const { cx } = asked
  const wanted = wantedBy(asked)
  const cluster = await clusterOf(asked)
  const { kubevirt, namespace } = theInstallation(await takeSnapshot(cluster.reader, [], cx.clock))
  const journal = configMapJournal(cluster, { namespace, who: cx.world.who, clock: cx.clock })
  const reading: ReadContext = { reader: cluster.reader, clock: cx.clock, journal }
  const began = cx.clock.now().getTime()
  if (asked.command === 'restart') {
    const run = new RestartRun(wanted, { began, kubevirt })
    return { waves: restartWaves(run, await run.read(reading)), by: wanted.waveBy }
  }
  const run = new UpdateRun(wanted, { began, releases: knownReleases })
  return { waves: await updateWaves(reading, run, await run.read(reading)), by: wanted.waveBy }
}

/** The defaults of the flags, as the command has them. */
const usual = () => updateCommand(() => async () => undefined).opts<UpdateOptions>()

/** What decides about the waves as it was typed, the rest as it is by default. */
function wantedBy(asked: Asked): UpdateWanted {
  const { cx, options } = asked
  const given = (key: string, flag: string) => {
    const value = last(asked, flag)
    return value === undefined ? {} : { [key]: value }
  }
  const typed = typedUpdate(
    {
      ...usual(),
      allNamespaces: options.has('--all-namespaces'),
      ...given('selector', '--selector'),
      ...given('node', '--node'),
      exclude: [...(options.get('--exclude') ?? [])],
      ...given('canary', '--canary'),
      ...given('canaryLabel', '--canary-label'),
      ...given('waveBy', '--wave-by'),
      restartUnmigratable: asked.command === 'restart' || options.has('--restart-unmigratable'),
    },
    last(asked, '--namespace') ?? cx.flags.namespace,
  )
  return typed.wanted
}
