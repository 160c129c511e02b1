import type { Procedure } from '../../../procedure/step.ts'
import { type Wave, wavesOf } from '../../waves/waves.ts'
import type { RestartLook, RestartRun } from './restart-run.ts'
import { restartWave } from './restart-wave.ts'

/** Also the name in the journal. */
const name = 'restart VMs'

/** Canary → wave after wave, made anew from the cluster after each. Borrows nothing. */
export function restartProcedure(run: RestartRun, timeoutMs: number): Procedure {
  return {
    name,
    loans: [],
    async reached(cx) {
      const { candidates, restarts } = await run.look(cx)
      const open = restarts.some(({ state }) => state.is === 'under-way' || state.is === 'missing')
      return candidates.size === 0 && !open
    },
    async steps(cx) {
      const look = await run.look(cx)
      return wavesLeft(run, look).map((wave) =>
        restartWave(run, wave, { title: titleOf(wave, run), atMost: timeoutMs }),
      )
    },
  }
}

/** What has to be waited for is a wave as well, where nothing else is left. */
function wavesLeft(run: RestartRun, { candidates, restarts }: RestartLook): readonly Wave[] {
  const { wanted, through } = run
  const canaries = through.has('canary') ? wanted.waves.canaries : 0
  const waves = wavesOf(candidates.values(), wanted.waves, canaries).filter(({ id }) => !through.has(id))
  const missed = [...candidates.values()].filter(
    ({ vm }) => !waves.some(({ vms }) => vms.some((one) => one.vm === vm)),
  )
  const open = restarts.some(({ state }) => state.is === 'under-way' || state.is === 'missing')
  if (waves.length > 0 || through.has(late)) return waves
  return missed.length > 0 || open ? [{ id: late, vms: missed }] : []
}

const late = 'late'

function titleOf({ id, value }: Wave, { wanted: { waveBy } }: RestartRun): string {
  if (id === 'canary') return 'canary'
  if (id === late) return 'virtual machines that had to wait'
  if (value === undefined) return 'virtual machines'
  return waveBy.is === 'label' ? `${waveBy.key}=${value}` : `${waveBy.is} ${value}`
}
