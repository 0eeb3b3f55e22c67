// Compiles the contracts and writes their ABIs and bytecode to contracts/artifacts/.
// With --check it writes nothing and exits 1 if what is committed isn't what the sources give.
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import solc from "solc";

const SOURCES = dirname(fileURLToPath(import.meta.url));
const ROOT = join(SOURCES, "..", "..");
const ARTIFACTS = join(SOURCES, "..", "artifacts");
// What the product runs on a chain; everything else is a helper of the tests.
const DEPLOYED = new Set(["BasVault", "SignatureCheck", "TestToken"]);
// cancun has transient storage and runs on Anvil, Hardhat and the public testnets alike.
const EVM_VERSION = "cancun";
const OPTIMIZER = { enabled: true, runs: 10_000 };
const ANSWERED_WARNINGS = new Set([
  // "Transient storage can break composability": the only use is OpenZeppelin's reentrancy guard, which
  // clears its slot at the end of each call, the case that the warning itself calls safe.
  "2394",
  // "selfdestruct has been deprecated": a helper of the tests forces coins on the vault with it.
  "5159",
]);

const require = createRequire(import.meta.url);

function listSources(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return listSources(path);
      return entry.name.endsWith(".sol") ? [path] : [];
    })
    .sort();
}

// Sources are named relative to their folder, so that the output doesn't depend on where it is built.
function sourceName(path) {
  return relative(SOURCES, path).replaceAll("\\", "/");
}

export function standardInput() {
  const sources = {};
  for (const path of listSources(SOURCES)) {
    sources[sourceName(path)] = { content: readFileSync(path, "utf8") };
  }
  return {
    language: "Solidity",
    sources,
    settings: {
      evmVersion: EVM_VERSION,
      optimizer: OPTIMIZER,
      // A hash of the metadata would change the bytecode with each comment.
      metadata: { bytecodeHash: "none" },
      outputSelection: { "*": { "*": ["abi", "evm.bytecode.object", "evm.deployedBytecode.object"] } },
    },
  };
}

function findImport(name) {
  try {
    return { contents: readFileSync(require.resolve(name), "utf8") };
  } catch (error) {
    return { error: error.message };
  }
}

function compile() {
  const input = standardInput();
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: findImport }));
  const complaints = (output.errors ?? []).filter(({ errorCode }) => !ANSWERED_WARNINGS.has(errorCode));
  for (const { formattedMessage } of complaints) console.error(formattedMessage);
  // A warning that nobody has answered stops the build too.
  if (complaints.length > 0) process.exit(1);
  const artifacts = new Map();
  for (const source of Object.keys(input.sources)) {
    for (const [contractName, { abi, evm }] of Object.entries(output.contracts[source] ?? {})) {
      // An abstract contract can't be deployed.
      if (evm.bytecode.object === "") continue;
      const name = DEPLOYED.has(contractName) ? `${contractName}.json` : `test/${contractName}.json`;
      const artifact = {
        contractName,
        sourceName: source,
        compiler: { version: solc.version(), evmVersion: EVM_VERSION, optimizerRuns: OPTIMIZER.runs },
        abi,
        bytecode: `0x${evm.bytecode.object}`,
        deployedBytecode: `0x${evm.deployedBytecode.object}`,
      };
      artifacts.set(name, `${JSON.stringify(artifact, null, 2)}\n`);
    }
  }
  return artifacts;
}

function committed() {
  return readdirSync(ARTIFACTS, { recursive: true })
    .map((name) => String(name).replaceAll("\\", "/"))
    .filter((name) => name.endsWith(".json"));
}

function readOrNull(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

function check(artifacts) {
  const names = [...new Set([...artifacts.keys(), ...committed()])].sort();
  const wrong = names.filter((name) => artifacts.get(name) !== (readOrNull(join(ARTIFACTS, name)) ?? undefined));
  for (const name of wrong) {
    const path = relative(ROOT, join(ARTIFACTS, name));
    const reason = artifacts.has(name) ? "isn't what the sources give" : "has no source";
    console.error(`${path} ${reason}: run npm run build`);
  }
  if (wrong.length > 0) process.exit(1);
  console.log(`${names.length} artifacts match their sources`);
}

function write(artifacts) {
  mkdirSync(join(ARTIFACTS, "test"), { recursive: true });
  for (const name of committed()) {
    if (!artifacts.has(name)) rmSync(join(ARTIFACTS, name));
  }
  for (const [name, text] of artifacts) writeFileSync(join(ARTIFACTS, name), text);
  console.log(`${artifacts.size} artifacts written to ${relative(ROOT, ARTIFACTS)}`);
}

const flags = process.argv.slice(2);
if (flags.some((flag) => flag !== "--check" && flag !== "--print-input")) {
  console.error("usage: node contracts/solidity/build.mjs [--check | --print-input]");
  process.exit(2);
}
if (flags.includes("--print-input")) {
  console.log(JSON.stringify(standardInput()));
} else {
  const artifacts = compile();
  if (flags.includes("--check")) check(artifacts);
  else write(artifacts);
}
