import { createHash } from 'node:crypto'
import type { Reader } from '../../cluster/cluster.ts'
import {
  type VirtualMachineInstance,
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrations,
  VirtualMachineInstances,
  VirtualMachines,
} from '../../cluster/kinds/virtual-machines.ts'
import { outdatedLabel } from '../../facts/workload-count.ts'
import type { StepContext } from '../../procedure/step.ts'
import { ApiError, isConflict } from '../../system/errors.ts'
import { endOf, isFinished, migrationOf } from '../migrations/migration.ts'
import type { Candidate } from '../waves/candidate.ts'

/** Under virt-api's own API. */
const restartable = { ...VirtualMachines, apiVersion: 'subresources.kubevirt.io/v1' }

/** On migrations of the canary: how many have passed is read from them. */
const canaryLabel = 'kvup.io/canary'
/** The virt-launcher that a canary was moved to: the next upgrade needs canaries of its own. */
const launcherAnnotation = 'kvup.io/launcher'

/** `not-needed`: it is on its way already, or needs no new launcher any more. */
export type Begun = { is: 'begun' } | { is: 'not-needed' } | { is: 'refused'; why: string }

export interface Beginning {
  /** The virt-launcher of new pods, where it is known. */
  launcher: string | undefined
  canary: boolean
}

/**
 * Begins one migration or restart, after a look at the VM itself: never a second one where one is active. The name of a migration follows
 * from what was looked at, so that of two who saw the same only one can make it. Throws ApiError for what no webhook said.
 */
export async function begin(
  { reader, writer }: Pick<StepContext, 'reader' | 'writer'>,
  one: Candidate,
  beginning: Beginning,
): Promise<Begun> {
  const [namespace = '', name = ''] = one.vm.split('/')
  const ref = { name, namespace }
  const found = await reader.find(VirtualMachineInstances, ref)
  if (found.is !== 'object' || !isDue(found.object, one)) return { is: 'not-needed' }
  const migrations = await migrationsOf(reader, ref)
  if (!migrations.every((migration) => isFinished(migrationOf(migration)))) return { is: 'not-needed' }
  try {
    if (one.by === 'restart')
      await writer.subresource(restartable, ref, { name: 'restart', method: 'PUT', body: {} })
    else
      await writer.create(
        VirtualMachineInstanceMigrations,
        newMigration(one, ref, { ...beginning, migrations }),
      )
    return { is: 'begun' }
  } catch (error) {
    return refusal(error, one)
  }
}

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
  }: Beginning & { migrations: readonly VirtualMachineInstanceMigration[] },
): VirtualMachineInstanceMigration {
  const [last] = migrations.map(migrationOf).sort((a, b) => endOf(b) - endOf(a))
  const seen = createHash('sha256')
    .update([uid, launcher, last?.uid ?? ''].join())
    .digest('hex')
  return {
    apiVersion: VirtualMachineInstanceMigrations.apiVersion,
    kind: VirtualMachineInstanceMigrations.kind,
    metadata: {
      name: `kvup-update-${seen.slice(0, 12)}`,
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

/** A webhook's no is of this VM and no reason to end; no right to do it at all is. "Already underway" is waiting (night W3). */
function refusal(error: unknown, { by }: Candidate): Begun {
  if (!(error instanceof ApiError)) throw error
  if (/in-flight migration|already underway|already exists/iu.test(error.message)) return { is: 'not-needed' }
  if (by === 'restart' && isConflict(error)) return { is: 'refused', why: error.message }
  if (/admission webhook|denied the request/iu.test(error.message))
    return { is: 'refused', why: error.message }
  throw error
}

/** How many canaries have been migrated to this launcher. Throws ApiError. */
export async function passedCanaries(reader: Reader, launcher: string | undefined): Promise<number> {
  const found = await reader.list(VirtualMachineInstanceMigrations, { labels: canaryLabel })
  const passed = found.filter(
    ({ metadata, status }) =>
      status?.phase === 'Succeeded' && metadata.annotations?.[launcherAnnotation] === (launcher ?? ''),
  )
  return new Set(passed.map(({ metadata, spec }) => `${metadata.namespace}/${spec?.vmiName}`)).size
}
