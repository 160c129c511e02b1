import { describe, expect, test } from 'vitest'
import { HyperConvergeds } from '../../../src/lib/kube/kinds/operator-kinds.ts'
import {
  type ClusterOperator,
  ClusterOperators,
  MachineConfigPools,
} from '../../../src/lib/kube/kinds/openshift-kinds.ts'
import {
  type VirtualMachineInstance,
  VirtualMachineInstances,
} from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { migrate, migration, outdatedCount } from '../machines.ts'
import { approveWhateverIsThere } from '../naive-person.ts'
import { storedMethods } from '../settings-owners.ts'
import { minute, play, type Stage } from '../stage.ts'
import { doneSteps, eusRunOn, eusStatusOn, platformOf, small418, twoWorkers418 } from './window-stage.ts'

const hco = { name: 'kubevirt-hyperconverged', namespace: 'openshift-cnv' }
const withVms = {
  ...twoWorkers418,
  vms: 2,
}

describe('trap 1: only an explicit empty list disables workload updates', () => {
  test.each([{ workloadUpdateStrategy: null }, { workloadUpdateStrategy: { workloadUpdateMethods: null } }])(
    'naively, by taking the stanza out as the documentation says: the server puts the default back: %o',
    (spec) =>
      play(small418, async (stage) => {
        await stage.cluster.writer.mergePatch(HyperConvergeds, hco, { spec } as object)
        await stage.until(2 * minute)
        expect(storedMethods(stage)).toBe('["LiveMigrate"]')
        expect(stage.methods).toEqual(['LiveMigrate'])
      }),
  )

  test('naively, with a word that is no method: the server takes it, and no VM ever moves; kvup does not', () =>
    play(withVms, async (stage) => {
      const spec = { workloadUpdateStrategy: { workloadUpdateMethods: ['LiveMigration'] } }
      await stage.cluster.writer.mergePatch(HyperConvergeds, hco, { spec } as object)
      await stage.until(2 * minute)
      expect(stage.methods).toEqual(['LiveMigration'])
      const ended = await stage.strategy({ methods: 'LiveMigration' })
      expect(ended).toMatchObject({ code: 2 })
      expect(ended.text).toContain('LiveMigrate')
    }))

  test('kvup writes the empty list, and keeps what was there', () =>
    play(small418, async (stage) => {
      await eusRunOn(stage, { until: 'pause-workload-updates' })
      expect(storedMethods(stage)).toBe('[]')
      const [override] = await stage.journal.overrides()
      expect(override?.was).toEqual({ present: true, value: ['LiveMigrate'] })
    }))
})

/** The platform is at 4.19, and OLM has resolved what follows it. */
async function beforeApproval(stage: Stage): Promise<void> {
  await eusRunOn(stage, { until: 'control-plane-4.19' })
  await stage.until(20 * minute)
}

describe('trap 8: held methods stop hotplug and moves of volumes as well, and no migration that is in flight', () => {
  const slow = { ...withVms, vms: [{ name: 'web-1', migration: '60s' }] } as const

  test('what waits meanwhile, and the alert that is expected, is said before the question; status says that it waits', () =>
    play(small418, async (stage) => {
      let said = ''
      const ended = await eusRunOn(
        stage,
        {},
        {
          answer: async (question) => {
            said = question
            return false
          },
          yes: false,
        },
      )
      expect(said).toContain('4.20')
      expect(ended.text).toContain('CPU, memory and volume changes wait')
      expect(ended.text).toContain('OutdatedVirtualMachineInstanceWorkloads fires after 24 h')
      await eusRunOn(stage, { until: 'pause-workload-updates' })
      expect((await eusStatusOn(stage)).text).toContain('CPU, memory and volume changes wait')
    }))

  test('naively, approved at once: the roll of virt-handler fails the migration', () =>
    play(slow, async (stage) => {
      await beforeApproval(stage)
      await migrate(stage, 'web-1')
      await approveWhateverIsThere(stage)
      await stage.until(5 * minute)
      expect(migration(stage, 'move-web-1')?.status?.phase).toBe('Failed')
    }))

  test('kvup waits for it before it approves', () =>
    play(slow, async (stage) => {
      await beforeApproval(stage)
      await migrate(stage, 'web-1')
      const ended = await eusRunOn(stage, { until: 'operator-4.19' })
      expect(ended.error).toBeUndefined()
      expect(migration(stage, 'move-web-1')?.status?.phase).toBe('Succeeded')
      expect(ended.text).not.toContain('demo/web-1')
    }))
})

const kubeApiServer = ({ simulated }: Stage): string => {
  const operators = simulated.store.list(ClusterOperators).items as ClusterOperator[]
  const found = operators.find(({ metadata }) => metadata.name === 'kube-apiserver')
  const upgradeable = found?.status?.conditions?.find(({ type }) => type === 'Upgradeable')
  return `${upgradeable?.status} ${upgradeable?.message}`
}

describe('trap 19: at the end the methods come first, then the VMs, then the pools', () => {
  test('naively, pools that nobody unpauses block the minor after it; kvup unpauses each, and it is open', () =>
    play(small418, async (stage) => {
      await eusRunOn(stage, { pauseBefore: ['unpause-worker'] })
      await stage.until(10 * minute)
      expect(platformOf(stage).status?.desired?.version).toBe('4.20.5')
      expect(kubeApiServer(stage)).toMatch(/^False .*KubeletMinorVersionUpgradeable/u)
      expect(await eusRunOn(stage)).toMatchObject({ code: 0 })
      await stage.until(10 * minute)
      expect(kubeApiServer(stage)).toMatch(/^True/u)
    }))

  test('naively, methods forgotten: platform and operator are at the target, and VMs keep the old virt-launcher', () =>
    play(
      {
        ...withVms,
        vms: [{ name: 'web-1' }, { name: 'pet', notMigratable: 'Disks', evictionStrategy: 'None' }],
      },
      async (stage) => {
        await eusRunOn(stage, { pauseBefore: ['resume-workload-updates'] })
        await stage.until(10 * minute)
        expect(stage.methods).toEqual([])
        expect(outdatedCount(stage)).toBe(2)
      },
    ))

  test('kvup: no VM is outdated any more when the first pool is unpaused', () =>
    play(withVms, async (stage) => {
      const observed: number[] = []
      stage.simulated.store.watch(MachineConfigPools, ({ object }) => {
        const { metadata, spec } = object as { metadata: { name: string }; spec?: { paused?: boolean } }
        if (metadata.name === 'worker' && spec?.paused !== true) observed.push(outdatedCount(stage))
      })
      await eusRunOn(stage, { until: 'operator-4.20' })
      expect(outdatedCount(stage)).toBe(2)
      observed.length = 0
      const ended = await eusRunOn(stage)
      expect(ended.error).toBeUndefined()
      expect(observed[0]).toBe(0)
      const order = [
        'resume-workload-updates',
        'workloads',
        'none-outdated',
        'unpause-worker',
        'rolled-worker',
      ]
      expect(doneSteps(ended).filter((id) => order.includes(id))).toEqual(order)
      const instances = stage.simulated.store.list(VirtualMachineInstances).items as VirtualMachineInstance[]
      expect(instances.map(({ status }) => status?.phase)).toEqual(['Running', 'Running'])
    }))
})
