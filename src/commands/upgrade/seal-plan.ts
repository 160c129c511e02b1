import { randomUUID } from 'node:crypto'
import type { RehearsedStep } from '../../lib/procedure/rehearse.ts'
import { type Seal, sealed } from '../../lib/seal/seal.ts'
import type { Relied } from '../../lib/seal/sealed-facts.ts'
import { withResults } from '../../lib/upgrade/own-work.ts'
import type { Planned } from './planned.ts'
import { sealedRequest } from './sealed-request.ts'

/** What the plan asks for, and the seal over it. */
export function sealedPart(
  relied: Relied,
  { planned, steps, accepted }: { planned: Planned; steps: readonly RehearsedStep[]; accepted: unknown },
) {
  const { options, plan, manifest } = planned
  const request = sealedRequest(options, {
    method: plan.method,
    ...(manifest.loaded && { manifestSha256: manifest.loaded.sha256 }),
  })
  const covered = { request, accepted, steps: steps.map(({ id }) => id) }
  return { request, ...sealOf(relied, { planned, steps, covered }) }
}

interface Covered {
  request: unknown
  accepted: unknown
  steps: readonly string[]
}

/** Without the uid of kube-system nothing would tell for which cluster it is: no seal then, and why. */
function sealOf(
  relied: Relied,
  { planned, steps, covered }: { planned: Planned; steps: readonly RehearsedStep[]; covered: Covered },
): { seal: Seal } | Record<string, never> {
  const { cx } = planned
  if (relied.cluster === undefined) {
    cx.printer.warn(
      'the plan is not sealed: the namespace kube-system may not be read, so no uid tells the cluster',
    )
    return {}
  }
  for (const { id, why } of relied.unsealed)
    cx.printer.warn(`the seal is without ${id}, a change of it will not be seen: ${why}`)
  const seal = sealed(
    {
      uid: randomUUID(),
      at: cx.clock.now().toISOString(),
      by: cx.world.who,
      cluster: relied.cluster,
      kvup: cx.world.version,
      facts: relied.facts.map((fact) => withResults(fact, steps)),
      unsealed: relied.unsealed,
    },
    covered,
  )
  return { seal }
}
