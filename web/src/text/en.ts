/** Every word that the front end shows. Another language is another module of this shape. */
import { battle } from "./en/battle";
import { credits } from "./en/credits";
import { errors } from "./en/errors";
import { lobby } from "./en/lobby";
import { players } from "./en/players";
import { replay } from "./en/replay";
import { rules } from "./en/rules";
import { site } from "./en/site";
import { wallet } from "./en/wallet";

export const en = { site, errors, wallet, credits, lobby, battle, replay, players, rules };
