import { expect, it } from 'vitest'
import { Leases } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import { lead } from '../../../../src/simulator/machinery/leader-election.ts'
import { untilAborted } from '../../../../src/simulator/machinery/controller.ts'
import { animate } from './animate.ts'

it('a Lease whose holder is gone is taken over after 15 s, not before', async () => {
  const { cx, clock, reader } = animate([])
  const working = new Set<string>()
  const candidate = (identity: string) => {
    const gone = new AbortController()
    const signal = AbortSignal.any([cx.signal, gone.signal])
    const work = (held: AbortSignal) =>
      new Promise<void>((resolve) => {
        working.add(identity)
        held.addEventListener('abort', () => {
          working.delete(identity)
          resolve()
        })
      })
    const done = untilAborted(signal, () =>
      lead({ ...cx, signal }, { lease: 'it', namespace: 'default', identity }, work),
    )
    return { gone, done }
  }
  const first = candidate('first')
  await clock.sleep(1000)
  const second = candidate('second')
  await clock.sleep(60_000)
  expect([...working]).toEqual(['first'])
  first.gone.abort()
  await first.done
  await clock.sleep(9000)
  expect([...working]).toEqual([])
  await clock.sleep(9000)
  expect([...working]).toEqual(['second'])
  const [lease] = await reader.list(Leases)
  expect(lease?.spec).toMatchObject({
    holderIdentity: 'second',
    leaseTransitions: 1,
    leaseDurationSeconds: 15,
  })
  second.gone.abort()
  await second.done
})
