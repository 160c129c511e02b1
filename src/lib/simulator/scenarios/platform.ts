import { ocpOlm, okdOlm } from '../olm/shapes.ts'
import { ocp418to420 } from '../openshift/graphs.ts'
import type { OpenShiftShape } from '../openshift/shape.ts'
import type { Scenario } from './scenario.ts'

const okd422: OpenShiftShape = {
  flavour: 'okd',
  version: '4.22.0-okd-scos.3',
  channel: 'stable-scos-4',
  graph: [
    {
      version: '4.22.0-okd-scos.3',
      image: `quay.io/okd/scos-release@sha256:${'4c22'.repeat(16)}`,
      kubernetes: '1.35.2',
      channels: ['stable-scos-4'],
      to: [],
    },
  ],
}

/** Upgrades where a platform, OLM and HyperConverged lie above KubeVirt. */
export const platformScenarios: readonly Scenario[] = [
  {
    name: 'okd',
    title:
      'OKD: HyperConverged lags two minors behind; each has a channel of its own, and each InstallPlan is approved by name.',
    cluster: {
      olm: okdOlm({ installed: '1.16.0', channel: 'stable-v1.16' }),
      openshift: okd422,
      vms: 6,
      methods: ['LiveMigrate'],
    },
    typed: { command: 'upgrade', args: ['--to', '1.18.1', '--method', 'olm'] },
  },
  {
    name: 'ocp-eus',
    title:
      'OpenShift from 4.18 to 4.20 in one window: pools paused, platform and operator hop by hop, VMs moved, pools unpaused.',
    cluster: {
      olm: ocpOlm(),
      openshift: { ...ocp418to420, monitoring: 'open' },
      vms: 8,
      methods: ['LiveMigrate'],
    },
    speed: 300,
    typed: {
      command: 'eus run',
      args: ['--to', '4.20', '--graph-file', 'graph.json', '--catalog-file', 'catalog.yaml', '--approve'],
    },
  },
]
