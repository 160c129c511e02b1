import type { Kind } from '../../cluster/kind.ts'
import {
  CatalogSources,
  ClusterServiceVersions,
  InstallPlans,
  OperatorConditions,
  OperatorGroups,
  PackageManifests,
  Subscriptions,
} from '../../cluster/kinds/operator-lifecycle.ts'
import type { KubeObject } from '../../cluster/object.ts'
import { ageColumn, column, nameColumn } from '../api/column.ts'
import { at, text, words } from '../api/json.ts'
import { custom } from '../api/kinds/make-kind.ts'
import type { Column, SimKind } from '../api/sim-kind.ts'

const category = ['olm']

/** The kinds that a cluster with OLM serves, with the columns of `kubectl get`. ClusterExtension is none of them: that is OLM v1. */
export function olmKinds(): SimKind[] {
  const table: [Kind, readonly string[], readonly Column[]][] = [
    [Subscriptions, ['sub', 'subs'], subscriptionColumns],
    [InstallPlans, ['ip'], planColumns],
    [ClusterServiceVersions, ['csv', 'csvs'], csvColumns],
    [CatalogSources, ['catsrc'], catalogColumns],
    [OperatorConditions, ['condition'], [ageColumn]],
    [OperatorGroups, ['og'], [ageColumn]],
  ]
  const manifests = custom(PackageManifests, {
    status: false,
    generation: 'none',
    categories: [],
    columns: [nameColumn, value('Catalog', 'status', 'catalogSource'), ageColumn],
  })
  return [...table.map(([kind, shortNames, columns]) => of(kind, shortNames, columns)), manifests]
}

const value = (title: string, ...path: string[]): Column =>
  column(title, (object: KubeObject) => text(object, ...path) ?? '')

const subscriptionColumns = [
  value('Package', 'spec', 'name'),
  value('Source', 'spec', 'source'),
  value('Channel', 'spec', 'channel'),
]

/** Of several CSVs the first alone is shown (ocp 2.2). */
const planColumns = [
  column('CSV', (plan) => words(plan, 'spec', 'clusterServiceVersionNames')[0] ?? ''),
  value('Approval', 'spec', 'approval'),
  column('Approved', (plan) => at(plan, 'spec', 'approved') === true),
]

const csvColumns = [
  value('Display', 'spec', 'displayName'),
  value('Version', 'spec', 'version'),
  value('Replaces', 'spec', 'replaces'),
  value('Phase', 'status', 'phase'),
]

const catalogColumns = [
  value('Display', 'spec', 'displayName'),
  value('Type', 'spec', 'sourceType'),
  value('Publisher', 'spec', 'publisher'),
  ageColumn,
]

function of(kind: Kind, shortNames: readonly string[], columns: readonly Column[]): SimKind {
  return custom(kind, { shortNames, categories: category, columns: [nameColumn, ...columns] })
}
