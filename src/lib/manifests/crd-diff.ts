import { CustomResourceDefinitions, type CustomResourceDefinition } from '../cluster/kinds/extension.ts'
import type { KubeObject } from '../cluster/object.ts'
import { schemaChange } from '../cluster/schema-change.ts'
import type { ObjectChange } from './changes.ts'

/** What becomes of the versions of a CustomResourceDefinition. */
export interface CrdDiff {
  name: string
  versionsAdded: readonly string[]
  versionsRemoved: readonly string[]
  /** Both are there where the stored version changes. */
  storageFrom?: string
  storageTo?: string
  /** Per version that is in both: `from: '4127 fields', to: '4390 fields: 275 added, …'`. */
  schemas: readonly { version: string; from: string; to: string }[]
}

type Version = NonNullable<NonNullable<CustomResourceDefinition['spec']>['versions']>[number]

/** Empty for objects of other kinds. */
export function crdDiff({ wanted, live }: ObjectChange): CrdDiff[] {
  if (wanted.kind !== CustomResourceDefinitions.kind) return []
  const [before, after] = [versionsOf(live), versionsOf(wanted)]
  return [
    {
      name: wanted.metadata.name,
      versionsAdded: missingIn(before, after),
      versionsRemoved: missingIn(after, before),
      ...storage(before, after),
      schemas: after.flatMap((version) => schemaOf(version, before)),
    },
  ]
}

function missingIn(some: readonly Version[], others: readonly Version[]): string[] {
  return others.map(({ name }) => name).filter((name) => !some.some((version) => version.name === name))
}

function versionsOf(object: KubeObject | undefined): readonly Version[] {
  return object === undefined ? [] : ((object as CustomResourceDefinition).spec?.versions ?? [])
}

function storage(before: readonly Version[], after: readonly Version[]): Partial<CrdDiff> {
  const stored = (versions: readonly Version[]) => versions.find((version) => version.storage)?.name
  const [from, to] = [stored(before), stored(after)]
  return from === undefined || to === undefined || from === to ? {} : { storageFrom: from, storageTo: to }
}

function schemaOf({ name, schema }: Version, before: readonly Version[]): CrdDiff['schemas'][number][] {
  const was = before.find((version) => version.name === name)?.schema
  const { from, to } = (was === undefined ? undefined : schemaChange(was, schema)) ?? {}
  return from === undefined || to === undefined ? [] : [{ version: name, from, to }]
}
