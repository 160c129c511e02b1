import { type CheckExample, layered } from '../check-example.ts'
import type { Change } from '../laid-over.ts'
import { change, type Row } from './row.ts'

const at = (...changes: Change[]): CheckExample => ({ ...layered, changes })
const version = (fields: object) => change('ClusterVersion', 'version', fields)
const forbidden = (reason: string, message: string) =>
  version({ status: { conditions: [{ type: 'Upgradeable', status: 'False', reason, message }] } })
const operator = (fields: object) =>
  change('HyperConverged', 'kubevirt-hyperconverged', fields, 'openshift-cnv')
const subscription = (fields: object) => change('Subscription', 'hco-operatorhub', fields, 'openshift-cnv')
const versions = (text: string) => operator({ status: { versions: [{ name: 'operator', version: text }] } })

/** The platform that is on its way to 4.19. */
const updating = version({
  status: {
    desired: { version: '4.19.2', image: 'quay.io/release@sha256:4192' },
    history: [
      { state: 'Partial', version: '4.19.2', startedTime: '2026-11-22T21:00:00Z' },
      {
        state: 'Completed',
        version: '4.18.21',
        startedTime: '2026-10-23T10:00:00Z',
        completionTime: '2026-10-23T12:00:00Z',
      },
    ],
    conditions: [{ type: 'Progressing', status: 'True', message: 'Working towards 4.19.2' }],
  },
})

const maintenance = (apiVersion: string, name: string): Change => ({
  ...change('NodeMaintenance', name, { spec: { nodeName: 'worker-1' } }),
  apiVersion,
})

/** Of what lies above and below KubeVirt. */
export const ofTheLayers: readonly Row[] = [
  [
    'approval-manual',
    'an InstallPlan that waits now',
    ['warning approval-manual'],
    at(
      subscription({
        spec: { installPlanApproval: 'Manual' },
        status: {
          state: 'UpgradePending',
          currentCSV: 'kubevirt-hyperconverged-operator.v4.18.14',
          installPlanRef: { name: 'install-abcde', namespace: 'openshift-cnv' },
        },
      }),
    ),
  ],
  ['version-in-step', 'an operator that is ahead', ['warning version-in-step'], at(versions('4.19.1'))],
  [
    'version-in-step',
    'one that is newer than all that is known for this platform',
    ['warning version-in-step'],
    at(versions('1.99.0')),
  ],
  ['version-in-step', 'one that is behind while the platform updates', [], at(updating)],
  [
    'cluster-operators-degraded',
    'while the platform updates, it is not judged, and not called good',
    ['warning cluster-operators-degraded'],
    at(updating),
  ],
  [
    'platform-not-steady',
    'an update that is armed',
    ['warning update-armed'],
    at(version({ spec: { desiredUpdate: { version: '4.19.2' } } })),
  ],
  [
    'platform-not-steady',
    'an update that stopped halfway',
    ['warning platform-not-steady'],
    at(
      updating,
      version({ status: { conditions: [{ type: 'Progressing', status: 'False', message: 'stopped' }] } }),
    ),
  ],
  [
    'platform-not-upgradeable',
    'another operator has reached its last platform',
    ['warning platform-not-upgradeable'],
    at(
      forbidden(
        'IncompatibleOperatorsInstalled',
        'ClusterServiceVersions blocking: - maximum supported OCP version for a/oadp.v1 is 4.18',
      ),
    ),
  ],
  [
    'platform-not-upgradeable',
    'overrides that no condition tells of yet',
    ['warning platform-not-upgradeable'],
    at(version({ spec: { overrides: [{ kind: 'Deployment', name: 'x', unmanaged: true }] } })),
  ],
  [
    'platform-not-upgradeable',
    'an override that leaves nothing out',
    [],
    at(version({ spec: { overrides: [{ kind: 'Deployment', name: 'x', unmanaged: false }] } })),
  ],
  [
    'pool-degraded',
    'the pool of the control plane is paused',
    ['warning master-paused'],
    at(change('MachineConfigPool', 'master', { spec: { paused: true } })),
  ],
  [
    'hyperconverged-tainted',
    'only its condition tells',
    ['warning hyperconverged-tainted'],
    at(operator({ status: { conditions: [{ type: 'TaintedConfiguration', status: 'True' }] } })),
  ],
  [
    'hyperconverged-methods',
    'methods that KubeVirt knows, or none',
    [],
    at(operator({ spec: { workloadUpdateStrategy: { workloadUpdateMethods: ['Evict', 'LiveMigrate'] } } })),
  ],
  [
    'catalog-not-healthy',
    'a resolution that failed',
    ['warning catalog-not-healthy'],
    at(
      subscription({
        status: { conditions: [{ type: 'ResolutionFailed', status: 'True', reason: 'X', message: 'no' }] },
      }),
    ),
  ],
  [
    'node-maintenance-old',
    'carried over, and still there',
    ['warning node-maintenance-old'],
    at(
      maintenance('nodemaintenance.kubevirt.io/v1beta1', 'old'),
      maintenance('nodemaintenance.medik8s.io/v1beta1', 'new'),
    ),
  ],
  [
    'node-maintenance-old',
    'one of the standalone operator alone',
    [],
    at(maintenance('nodemaintenance.medik8s.io/v1beta1', 'new')),
  ],
]
