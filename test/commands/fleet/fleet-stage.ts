import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { vi } from 'vitest'
import { ConfigMaps } from '../../../src/lib/kube/kinds/core-kinds.ts'
import { isWrite } from '../../../src/simulator/api/api-request.ts'
import type { Simulation } from '../../../src/simulator/simulated-cluster.ts'
import { type FleetCluster, serveFleet } from '../../bench/serve-fleet.ts'
import { type Ended, type Live, startKvup } from '../built/program.ts'
import { kvup } from '../in-process.ts'

// Each has some programs and clusters of its own: beside other tests they take a while.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 })

/** Several simulated clusters on loopback, and kvup in front of them. */
export interface FleetStage {
  readonly clusters: readonly FleetCluster[]
  readonly folder: string
  cluster(name: string): FleetCluster
  /** In this process; where `--file` or `--to-folder` is not absolute the built program, beside the kubeconfig. */
  run(line: readonly string[], machine?: string): Promise<Ended>
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
    longest: 150_000,
    env: { HOME: join(folder, machine), HOSTNAME: machine, KVUP_STABLE_FOR: '5s' },
  })
  return {
    clusters,
    folder,
    cluster,
    run: (line, machine) => {
      const isBeside = line.some(
        (word, i) => /^--(?:file|to-folder)$/u.test(line[i - 1] ?? '') && !isAbsolute(word),
      )
      return kvup(line, { ...setting(machine), ...(isBeside && { cwd: folder }) })
    },
    start: (line, machine) => startKvup(line, { ...setting(machine), cwd: folder }),
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
