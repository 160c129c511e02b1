import type { Loan } from '../../procedure/journal.ts'
import { noteGone, noteOf } from '../../procedure/saved-value.ts'
import type { Step, StepContext, StepState } from '../../procedure/step.ts'
import { closeFormerLoan } from '../../workloads/former-loan.ts'
import { nameOf, readOwner } from '../../workloads/find-owner.ts'
import type { Owner } from '../../workloads/update-methods.ts'
import { seconds } from '../../system/units.ts'

/** The journal's name of the tag that was taken out. */
export const imageTagLoan = 'image-tag'

interface Borrowed {
  tag: string
  registry?: string
}

const patience = { every: 5 * seconds, atMost: 120 * seconds }
const follows = [] as const

/**
 * Takes out a tag that says what the operator does anyway: the deployment ID stays the same (lab README, Seen 7), so nothing
 * rolls, and the new operator then rolls once instead of twice (night U2).
 */
export function liftImageTag(owner: Owner, { to, who }: { to: string; who: string }): Step {
  return {
    id: 'lift-image-tag',
    title: 'take imageTag out',
    patience,
    follows,
    estimate: 2 * seconds,
    risk: {
      undo: 'set imageTag to the value in kvup history',
      safeToLeave: 'always: the operator installs the same version without it',
    },
    async check({ reader, journal }): Promise<StepState> {
      const { spec } = await readOwner(reader, owner)
      if (spec?.imageTag === undefined || spec.imageTag === to) return { is: 'done' }
      const kept = (await journal.loans()).find((loan) => isOurs(loan, owner))
      return {
        is: 'todo',
        change: `take imageTag ${spec.imageTag}${spec.imageRegistry === undefined ? '' : ` and imageRegistry ${spec.imageRegistry}`} out of ${nameOf(owner)}${kept ? ' again' : ', and keep the value'}`,
      }
    },
    apply: (cx) => lift(cx, owner, { to, who }),
  }
}

async function lift(
  { reader, writer, journal, clock }: StepContext,
  owner: Owner,
  by: { to: string; who: string },
): Promise<void> {
  const kubevirt = await readOwner(reader, owner)
  const { imageTag: tag = '', imageRegistry: registry } = kubevirt.spec ?? {}
  const { name, namespace } = owner.ref
  await closeFormerLoan(journal, imageTagLoan, owner)
  const loan = await journal.borrow({
    id: imageTagLoan,
    procedure: `upgrade to ${by.to}`,
    object: { apiVersion: owner.kind.apiVersion, kind: owner.kind.kind, namespace, name, uid: owner.uid },
    path: '/spec/imageTag',
    was: { present: true, value: { tag, ...(registry !== undefined && { registry }) } satisfies Borrowed },
    by: by.who,
    at: clock.now().toISOString(),
    harmless: 'always: the operator installs its own version without it',
  })
  await writer.mergePatch(owner.kind, owner.ref, {
    metadata: { resourceVersion: kubevirt.metadata.resourceVersion ?? '', annotations: noteOf(loan) },
    spec: { imageTag: null, imageRegistry: null },
  })
}

/** What is put in; without a registry the one that was taken out. */
interface PutIn {
  version: string
  registry: string | undefined
}

/** Puts the tag of the new version in where one was taken out; no roll, for the operator installs that version already. */
export function putImageTagIn(owner: Owner, wanted: PutIn): Step {
  const { version } = wanted
  return {
    id: 'put-image-tag-in',
    title: 'put imageTag in again',
    patience,
    dependsOn: ['lift-image-tag'],
    follows,
    estimate: 2 * seconds,
    risk: { undo: 'none', safeToLeave: 'always: the operator installs the same version without it' },
    async check({ journal }): Promise<StepState> {
      const loan = (await journal.loans()).find((one) => isOurs(one, owner))
      if (loan === undefined) return { is: 'done' }
      const registry = registryFor(loan, wanted)
      const beside = registry === undefined ? '' : ` and imageRegistry to ${registry}`
      return { is: 'todo', change: `set imageTag of ${nameOf(owner)} to ${version}${beside}` }
    },
    apply: (cx) => putIn(cx, owner, wanted),
  }
}

/** The one that was taken out with the tag, as it is noted on this KubeVirt, unless another one was typed. */
function registryFor({ was }: Loan, { registry: wanted }: PutIn): string | undefined {
  const former = was.present ? (was.value as Borrowed).registry : undefined
  return former === undefined ? undefined : (wanted ?? former)
}

async function putIn({ reader, writer, journal }: StepContext, owner: Owner, wanted: PutIn): Promise<void> {
  const loan = (await journal.loans()).find((one) => isOurs(one, owner))
  const registry = loan && registryFor(loan, wanted)
  const kubevirt = await readOwner(reader, owner)
  const { imageTag, imageRegistry } = kubevirt.spec ?? {}
  const isIn = imageTag === wanted.version && (registry === undefined || imageRegistry === registry)
  const annotations = noteGone(kubevirt, imageTagLoan)
  if (!isIn || Object.keys(annotations).length > 0)
    await writer.mergePatch(owner.kind, owner.ref, {
      metadata: { resourceVersion: kubevirt.metadata.resourceVersion ?? '', annotations },
      spec: { imageTag: wanted.version, ...(registry !== undefined && { imageRegistry: registry }) },
    })
  await journal.release(imageTagLoan)
}

function isOurs(loan: Loan, owner: Owner): boolean {
  return loan.id === imageTagLoan && loan.object.uid === owner.uid
}
