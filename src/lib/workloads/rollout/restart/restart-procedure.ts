import type { Procedure } from '../../../procedure/step.ts'
import { lateId, waveTitle } from '../../waves/wave-title.ts'
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
      return restartWaves(run, look).map((wave) =>
        restartWave(run, wave, { title: waveTitle(wave, run.wanted.waveBy), atMost: timeoutMs }),
      )
    },
  }
}

/** What has to be waited for, and VMs whose wave is over, are a wave as well where nothing else is left. */
export function restartWaves(run: RestartRun, { candidates, restarts }: RestartLook): readonly Wave[] {
  const { wanted, through } = run
  const passed = through.has('canary') ? wanted.waves.canaries : 0
  const waves = wavesOf(candidates.values(), wanted.waves, { passed }).filter(({ id }) => !through.has(id))
  const open = restarts.some(({ state }) => state.is === 'under-way' || state.is === 'missing')
  if (waves.length > 0 || through.has(lateId)) return [...canaryThatPassed(run, waves), ...waves]
  return candidates.size > 0 || open ? [{ id: lateId, vms: [...candidates.values()] }] : []
}

/** It is a step all the same, within one run: `--until canary` ends there. */
function canaryThatPassed({ wanted, through }: RestartRun, waves: readonly Wave[]): readonly Wave[] {
  const asked = wanted.waves.canaries > 0 || wanted.canary !== undefined
  const isThere = waves.some(({ id }) => id === 'canary')
  return asked && !isThere && !through.has('canary') ? [{ id: 'canary', vms: [] }] : []
}
