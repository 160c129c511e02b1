import { spawn } from 'node:child_process'
import { program } from './measure.mjs'

/** Runs `work` while the built-in simulated cluster is served. */
export async function simulatedCluster(work) {
  const server = spawn(process.execPath, [program, 'demo', '--serve'], { stdio: ['ignore', 'pipe', 'pipe'] })
  try {
    await work({ kubeconfig: await kubeconfigOf(server) })
  } finally {
    server.kill()
  }
}

/** From the line `export KUBECONFIG=FILE` that it prints. */
function kubeconfigOf(server) {
  return new Promise((resolve, reject) => {
    let said = ''
    const take = (text) => {
      said += text
      const [, file] = /KUBECONFIG=["']?([^\s"']+)/.exec(said) ?? []
      if (file && said.includes('\n')) resolve(file)
    }
    server.stdout.setEncoding('utf8').on('data', take)
    server.stderr.setEncoding('utf8').on('data', take)
    server.on('exit', (code) => reject(new Error(`kvup demo --serve ended with ${code}:\n${said}`)))
  })
}
