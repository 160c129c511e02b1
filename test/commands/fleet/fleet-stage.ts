import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { vi } from 'vitest'
import { ConfigMaps } from '../../../src/lib/kube/kinds/core-kinds.ts'
import { isWrite } from '../../../src/simulator/api/api-request.ts'
import type { Simulation } from '../../../src/simulator/simulated-cluster.ts'
import { type FleetCluster, serveFleet } from '../../bench/serve-fleet.ts'
import { kvup, type Live, startKvup } from '../built/program.ts'

// Each has some programs and clusters of its own: beside other tests they take a while.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 })

/** Several simulated clusters on loopback, and the built program in front of them. */
export interface FleetStage {
  readonly clusters: readonly FleetCluster[]
  readonly folder: string
  cluster(name: string): FleetCluster
  run(line: readonly string[], machine?: string): ReturnType<typeof kvup>
  start(line: readonly string[], machine?: string): Live
  /** What kvup wrote there. */
  writes(name: string): number
  journal(name: string): string
  stop(): Promise<void>
}

export async function fleetStage(
  names: readonly string[],
  shapeOf: (name: string) => Omit<Simulation, 'clock'>,
  speed = 60,
): Promise<FleetStage> {
  const folder = mkdtempSync(join(tmpdir(), 'kvup-fleet-'))
  const kubeconfig = join(folder, 'kubeconfig')
  const clusters = await serveFleet(names, { kubeconfig, speed, shapeOf })
  const cluster = (name: string) => {
    const found = clusters.find((one) => one.name === name)
    if (found === undefined) throw new Error(`no cluster ${name}`)
    return found
  }
  const setting = (machine = 'here') => ({
    kubeconfig,
    cwd: folder,
    longest: 150_000,
    env: { HOME: join(folder, machine), HOSTNAME: machine, KVUP_STABLE_FOR: '5s' },
  })
  return {
    clusters,
    folder,
    cluster,
    run: (line, machine) => kvup(line, setting(machine)),
    start: (line, machine) => startKvup(line, setting(machine)),
    writes: (name) =>
      cluster(name).cluster.store.audit.filter(
        (record) => record.userAgent.startsWith('kvup/') && isWrite(record),
      ).length,
    journal(name) {
      const place = { name: 'kvup-journal', namespace: 'kubevirt' }
      const found = cluster(name).cluster.store.read(ConfigMaps, place)
      return (found as { data?: { entries?: string } } | undefined)?.data?.entries ?? ''
    },
    async stop() {
      await Promise.all(clusters.map((one) => one.stop()))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
