import { randomUUID } from 'node:crypto'
import type { RehearsedStep } from '../../lib/procedure/rehearse.ts'
import { coveredBy } from '../../lib/seal/covered.ts'
import { type Seal, sealed } from '../../lib/seal/seal.ts'
import type { Relied } from '../../lib/seal/sealed-facts.ts'
import { type LaterOperator, withLaterResults, withResults } from '../../lib/upgrade/own-work.ts'
import type { Planned } from './planned.ts'

/**
 * The seal over a plan, which is all of its document but the seal. Without the uid of kube-system nothing would tell for which cluster it is: no
 * seal then, and why.
 */
export function sealOf(
  document: Readonly<Record<string, unknown>> & { steps: readonly RehearsedStep[] },
  relied: Relied,
  { cx, legs }: Planned,
): { seal: Seal } | Record<string, never> {
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
      facts: relied.facts.map((fact) =>
        withLaterResults(withResults(fact, document.steps), laterOperators(legs)),
      ),
      unsealed: relied.unsealed,
    },
    coveredBy(document),
  )
  return { seal }
}

/** The operator that each later step of an upgrade path applies. */
const laterOperators = (legs: Planned['legs']): readonly LaterOperator[] =>
  legs.slice(1).flatMap(({ plan: { to }, manifest: { loaded } }) => {
    const deployment = loaded?.manifest.objects.find(({ kind }) => kind === 'Deployment')
    return deployment === undefined ? [] : [{ hop: to.text, deployment }]
  })
