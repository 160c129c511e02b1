import type { KubeVirt } from '../../cluster/kinds/kubevirt.ts'
import type { HopFinding } from '../../releases/finding.ts'
import { type Forecast, forecastText } from '../forecast.ts'
import { gateFinding } from './live-migration-gate.ts'
import type { Wanted } from './wanted.ts'

/** What a choice of settings is judged by. */
export interface Choice {
  wanted: Wanted
  kubevirt: KubeVirt
  /** What the methods do with the VMs that are outdated now; undefined where no methods are chosen. */
  forecast?: Forecast | undefined
}

/** What speaks against it. Pure. */
export function choiceFindings(choice: Choice): readonly HopFinding[] {
  return [...evictions(choice), ...gate(choice), ...network(choice)]
}

function chosenMethods({ wanted }: Choice): readonly string[] | undefined {
  const methods = wanted['workloadUpdateMethods']
  return Array.isArray(methods) ? methods : undefined
}

/** VMs are interrupted as soon as it is set: accepted by name (contract "Loans"). */
function evictions(choice: Choice): readonly HopFinding[] {
  const { forecast } = choice
  if (forecast === undefined || !chosenMethods(choice)?.includes('Evict')) return []
  if (forecast.interrupted.length === 0) return []
  return [
    {
      id: 'evictions',
      level: 'blocker',
      summary: `with Evict, of the VMs that are outdated now KubeVirt ${forecastText(forecast)}`,
      objects: forecast.interrupted.slice(0, 20),
      remedy: ['kvup workloads strategy set --methods LiveMigrate     leaves them running'],
    },
  ]
}

const gate = (choice: Choice): readonly HopFinding[] =>
  gateFinding(choice.kubevirt, chosenMethods(choice) ?? [])

/** The network is one of the inputs of the deployment ID (facts 2.3): virt-handler rolls, which kills migrations (facts 2.8). */
function network({ wanted }: Choice): readonly HopFinding[] {
  if (wanted['network'] === undefined) return []
  return [
    {
      id: 'migration-network-rolls',
      level: 'warning',
      summary:
        'another migration network makes KubeVirt roll virt-handler on every node: migrations that run then fail',
      remedy: ['kvup workloads migrations     shows what runs now', 'kvup status -w     follows the roll'],
    },
  ]
}

/** What the methods mean for these VMs and for hotplug, said before the question (facts 5, issue 17329). */
export function choiceText(choice: Choice): readonly string[] {
  const methods = chosenMethods(choice)
  if (methods === undefined) return []
  const { forecast } = choice
  const hotplug = 'hotplug of CPU, memory and networks and changes of volumes'
  return [
    methods.length === 0
      ? 'KubeVirt moves no VM by itself any more: outdated ones stay so until they are migrated or restarted'
      : `of the VMs that are outdated now KubeVirt ${forecast ? forecastText(forecast) : 'moves some'}`,
    methods.includes('LiveMigrate')
      ? `${hotplug} are carried out as migrations`
      : `${hotplug} wait until a VM restarts: they are carried out as migrations, which need LiveMigrate`,
  ]
}
