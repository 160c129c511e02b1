import { createHash } from 'node:crypto'
import type { Reader } from '../../kube/cluster.ts'
import {
  type VirtualMachineInstance,
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrations,
  VirtualMachineInstances,
} from '../../kube/kinds/kubevirt-kinds.ts'
import { outdatedLabel } from '../../kubevirt/snapshot.ts'
import type { Entry } from '../../engine/journal.ts'
import type { ReadContext, StepContext } from '../../engine/step.ts'
import { ApiError } from '../../kube/errors.ts'
import { endOf, isFinished, migrationOf, vmOf } from '../migrations/migration.ts'
import { pagesAllowed } from '../../kube/readable-pages.ts'
import type { Candidate } from './waves.ts'
import { placeOfVm, refusesThisVm } from '../vm.ts'
import { type Against, askRestart, type Begun } from './vm-restart.ts'

/** On migrations of the canary: how many have passed is read from them. */
const canaryLabel = 'kvup.io/canary'
/** The virt-launcher that a canary was moved to: the next upgrade needs canaries of its own. */
const launcherAnnotation = 'kvup.io/launcher'

interface Beginning {
  /** The virt-launcher of new pods, where it is known. */
  launcher: string | undefined
  canary: boolean
  /** ms since the epoch: when the update began. */
  since: number
  /** Of a restart. */
  against: Against
  /** Is told of the migration that was made. */
  made?: ((migration: VirtualMachineInstanceMigration) => void) | undefined
}

/**
 * Begins one migration or restart, after a look at the VM itself: never a second one where one is active. The name of a migration follows
 * from what was looked at, so that of two who saw the same only one can make it. Throws ApiError for what is no answer about this VM.
 */
export async function begin(
  { reader, writer }: Pick<StepContext, 'reader' | 'writer'>,
  one: Candidate,
  beginning: Beginning,
): Promise<Begun> {
  const ref = placeOfVm(one.vm)
  const found = await reader.get(VirtualMachineInstances, ref)
  if (found.is !== 'object' || !isDue(found.object, one))
    return { is: 'not-needed', why: 'it needs no new virt-launcher any more' }
  const migrations = await migrationsOf(reader, ref)
  if (!migrations.every((migration) => isFinished(migrationOf(migration)))) return onItsWay
  if (one.by === 'restart') return askRestart({ reader, writer }, one, beginning.against)
  if (wasForNothing(found.object, migrations, beginning)) return forNothing
  try {
    const migration = newMigration(one, ref, { ...beginning, migrations })
    const made = await writer.create(VirtualMachineInstanceMigrations, migration)
    beginning.made?.(made)
    return { is: 'begun' }
  } catch (error) {
    return refusal(error)
  }
}

const forNothing: Begun = {
  is: 'refused',
  why: 'it was migrated, and KubeVirt takes it for outdated still: the image of its new pod is not the one that KubeVirt asks for, as where something rewrites images',
}

/** KubeVirt compares the images of pods as text (facts 3.1): where they are rewritten every move is followed by another, without end. */
function wasForNothing(
  { metadata }: VirtualMachineInstance,
  migrations: readonly VirtualMachineInstanceMigration[],
  { launcher, since }: Pick<Beginning, 'launcher' | 'since'>,
): boolean {
  const [last] = migrations
    .filter(({ status }) => status?.phase === 'Succeeded')
    .sort((a, b) => endOf(migrationOf(b)) - endOf(migrationOf(a)))
  if (last === undefined || endOf(migrationOf(last)) < madeAt({ metadata })) return false
  if (launcherOf(last) !== (launcher ?? '')) return false
  return launcher !== undefined || madeAt(last) >= since
}

const madeAt = ({ metadata }: Pick<VirtualMachineInstance, 'metadata'>) =>
  Date.parse(metadata.creationTimestamp ?? '') || 0

const onItsWay: Begun = { is: 'not-needed', why: 'a migration of it is under way' }

/** Its status is not asked for a migration: one that was cancelled may stay in it as if it ran. */
function isDue({ metadata, status }: VirtualMachineInstance, { uid }: Candidate): boolean {
  if (metadata.uid !== uid || metadata.deletionTimestamp !== undefined) return false
  return status?.phase === 'Running' && Object.hasOwn(metadata.labels ?? {}, outdatedLabel)
}

/** virt-api labels each migration with the name of its VMI (facts 3.7); until it is asked for by that, it is named here. */
async function migrationsOf(
  reader: Reader,
  { name, namespace }: { name: string; namespace: string },
): Promise<VirtualMachineInstanceMigration[]> {
  const found = await reader.list(VirtualMachineInstanceMigrations, {
    namespace,
    labels: `kubevirt.io/vmi-name=${name}`,
  })
  return found.filter(({ spec }) => spec?.vmiName === name)
}

function newMigration(
  { uid }: Candidate,
  { name, namespace }: { name: string; namespace: string },
  {
    launcher = '',
    canary,
    migrations,
  }: Pick<Beginning, 'launcher' | 'canary'> & { migrations: readonly VirtualMachineInstanceMigration[] },
): VirtualMachineInstanceMigration {
  const [last] = migrations.map(migrationOf).sort((a, b) => endOf(b) - endOf(a))
  const observed = createHash('sha256')
    .update([uid, launcher, last?.uid ?? ''].join())
    .digest('hex')
  return {
    apiVersion: VirtualMachineInstanceMigrations.apiVersion,
    kind: VirtualMachineInstanceMigrations.kind,
    metadata: {
      name: `kvup-update-${observed.slice(0, 12)}`,
      namespace,
      labels: {
        'app.kubernetes.io/managed-by': 'kvup',
        'kubevirt.io/vmi-name': name,
        ...(canary && { [canaryLabel]: 'true' }),
      },
      annotations: { [launcherAnnotation]: launcher },
    },
    spec: { vmiName: name },
  }
}

function refusal(error: unknown): Begun {
  if (!(error instanceof ApiError)) throw error
  if (/in-flight migration|already exists/iu.test(error.message)) return onItsWay
  if (refusesThisVm(error)) return { is: 'refused', why: error.message }
  throw error
}

/** What a canary's turn does, for the journal and for `canariesBegun`: all of them by name, and the launcher. */
export const canaryText = (vms: readonly string[], launcher: string | undefined): string =>
  `migrate ${vms.join(', ')} to ${launcher ?? unknownLauncher}`

const unknownLauncher = 'the new virt-launcher'
const canaryForm = /^migrate (?<vms>\S+\/\S+(?:, \S+\/\S+)*) to (?<launcher>.+)$/u

/** The VMs that kvup itself has chosen as canaries of this launcher, by its journal. */
function chosenByKvup(entries: readonly Entry[], launcher: string | undefined): ReadonlySet<string> {
  const chosen = new Set<string>()
  for (const { step, what, text } of entries) {
    const isTurn = step.startsWith('canary#') && what === 'intends'
    const found = isTurn ? canaryForm.exec(text)?.groups : undefined
    if (found?.['launcher'] !== (launcher ?? unknownLauncher)) continue
    for (const vm of (found['vms'] ?? '').split(', ')) chosen.add(vm)
  }
  return chosen
}

/**
 * VMs that were canaries of this launcher, as far as that may be read: those that passed, and the others. A migration's label and annotation only find them, for whoever
 * may migrate a VM can write both: kvup's journal has to tell that the VM was chosen, and one that passed is outdated no more. Throws ApiError.
 */
export async function canariesBegun(
  { reader, journal }: Pick<ReadContext, 'reader' | 'journal'>,
  launcher: string | undefined,
  { namespace, isOutdated }: { namespace: string | undefined; isOutdated: (vm: string) => boolean },
): Promise<{ passed: ReadonlySet<string>; chosen: ReadonlySet<string> }> {
  const begun: VirtualMachineInstanceMigration[] = []
  const where = { namespace, labels: canaryLabel }
  for await (const page of pagesAllowed(reader, VirtualMachineInstanceMigrations, where))
    if (!('unread' in page)) begun.push(...page.items.filter((one) => launcherOf(one) === (launcher ?? '')))
  if (begun.length === 0) return { passed: new Set(), chosen: new Set() }
  const byKvup = chosenByKvup(await journal.entries(), launcher)
  const succeeded = begun.filter(({ status }) => status?.phase === 'Succeeded').map(movedVm)
  const passed = new Set(succeeded.filter((vm) => byKvup.has(vm) && !isOutdated(vm)))
  const others = begun.map(movedVm).filter((vm) => byKvup.has(vm) && !passed.has(vm))
  return { passed, chosen: new Set(others) }
}

const movedVm = (migration: VirtualMachineInstanceMigration) => vmOf(migrationOf(migration))

const launcherOf = ({ metadata }: VirtualMachineInstanceMigration) =>
  metadata.annotations?.[launcherAnnotation]
