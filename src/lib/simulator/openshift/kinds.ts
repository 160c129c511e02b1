import type { Kind } from '../../cluster/kind.ts'
import {
  ApiRequestCounts,
  ClusterOperators,
  ClusterVersions,
  Infrastructures,
  KubeApiServers,
  MachineConfigPools,
  MachineConfigs,
  MachineHealthChecks,
  NodeHealthChecks,
  NodeMaintenances,
  OldNodeMaintenances,
} from '../../cluster/kinds/openshift.ts'
import { jsonPathColumns, nameColumn } from '../api/column.ts'
import { custom } from '../api/kinds/make-kind.ts'
import { releaseNumber } from './release-number.ts'
import type { OpenShiftShape } from './shape.ts'
import type { SimKind } from '../api/sim-kind.ts'

type Columns = Readonly<Record<string, string>>

const of = (type: string): string => `.status.conditions[?(@.type=='${type}')].status`
const since = ".status.conditions[?(@.type=='Progressing')].lastTransitionTime"
const said = ".status.conditions[?(@.type=='Progressing')].message"
const age = { Age: '.metadata.creationTimestamp' }
const dates = new Set(['Age', 'Since'])

function kind(told: Kind, shortNames: readonly string[], columns: Columns): SimKind {
  const definitions = Object.entries(columns).map(([name, jsonPath]) => ({
    name,
    jsonPath,
    type: dates.has(name) ? 'date' : 'string',
  }))
  return custom(told, { shortNames, categories: [], columns: [nameColumn, ...jsonPathColumns(definitions)] })
}

const platformKinds: readonly SimKind[] = [
  kind(ClusterVersions, [], {
    Version: ".status.history[?(@.state=='Completed')].version",
    Available: of('Available'),
    Progressing: of('Progressing'),
    Since: since,
    Status: said,
  }),
  kind(ClusterOperators, ['co'], {
    Version: ".status.versions[?(@.name=='operator')].version",
    Available: of('Available'),
    Progressing: of('Progressing'),
    Degraded: of('Degraded'),
    Since: since,
    Message: said,
  }),
  kind(Infrastructures, [], age),
  kind(KubeApiServers, [], age),
  kind(MachineConfigPools, ['mcp'], {
    Config: '.status.configuration.name',
    Updated: of('Updated'),
    Updating: of('Updating'),
    Degraded: of('Degraded'),
    MachineCount: '.status.machineCount',
    ReadyMachineCount: '.status.readyMachineCount',
    UpdatedMachineCount: '.status.updatedMachineCount',
    DegradedMachineCount: '.status.degradedMachineCount',
    ...age,
  }),
  kind(MachineConfigs, ['mc'], {
    GeneratedByController:
      ".metadata.annotations['machineconfiguration\\.openshift\\.io/generated-by-controller-version']",
    IgnitionVersion: '.spec.config.ignition.version',
    ...age,
  }),
  kind(MachineHealthChecks, ['mhc', 'mhcs'], {
    MaxUnhealthy: '.spec.maxUnhealthy',
    ExpectedMachines: '.status.expectedMachines',
    CurrentHealthy: '.status.currentHealthy',
  }),
  kind(ApiRequestCounts, [], {
    RemovedInRelease: '.status.removedInRelease',
    RequestsInCurrentHour: '.status.currentHour.requestCount',
    RequestsInLast24h: '.status.requestCount',
  }),
  kind(NodeMaintenances, ['nm'], { Node: '.spec.nodeName', ...age }),
  kind(NodeHealthChecks, ['nhc'], {
    Phase: '.status.phase',
    ObservedNodes: '.status.observedNodes',
    HealthyNodes: '.status.healthyNodes',
  }),
]

const maintenance: Columns = { Node: '.spec.nodeName', ...age }

/** The kinds of the platform, with the columns that `oc get` shows of them. The virtualization of 4.10 is the last that brings its own kind of maintenance (ocp 6.12). */
export function openShiftKinds({ version }: Pick<OpenShiftShape, 'version'>): SimKind[] {
  const { major, minor } = releaseNumber(version)
  const isOld = major === 4 && minor <= 10
  return [...platformKinds, ...(isOld ? [kind(OldNodeMaintenances, ['nm'], maintenance)] : [])]
}
