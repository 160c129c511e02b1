import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const server = fileURLToPath(new URL('fleet-server.ts', import.meta.url))

/** Runs `work` with a kubeconfig of so many simulated clusters while another process serves them. */
export async function fleetOf(clusters, work) {
  const folder = mkdtempSync(path.join(tmpdir(), 'kvup-bench-'))
  const kubeconfig = path.join(folder, 'kubeconfig')
  const serving = spawn(process.execPath, [server, String(clusters), kubeconfig], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    await new Promise((resolve, reject) => {
      serving.stdout.once('data', resolve)
      serving.once('exit', (code) => reject(new Error(`the server of the fleet ended with ${code}`)))
    })
    await work(kubeconfig)
  } finally {
    serving.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}
