-- The database of Larkfield Goods. Dates are ISO 8601 text (2024-06-12), months the first seven characters (2024-06),
-- money whole pounds. Comments stand inside the statements, so that sqlite_master keeps them beside the columns.

CREATE TABLE stores (
    -- The twelve stores, one a row.
    store_id    INTEGER PRIMARY KEY,             -- 1 to 12, in the order of the staffing lists
    name        TEXT NOT NULL UNIQUE,            -- 'Riverside'; do not mistake it for 'Riverhead'
    town        TEXT NOT NULL,                   -- 'Tarnmouth', 'Ostleigh', ...
    opened      INTEGER NOT NULL,                -- year of opening
    floor_area  INTEGER NOT NULL,                -- square metres
    sunday_from INTEGER,                         -- hour of opening on Sundays, 24-hour clock; NULL: closed on Sundays
    sunday_to   INTEGER,                         -- hour of closing on Sundays; NULL: closed on Sundays
    repair_desk INTEGER NOT NULL CHECK (repair_desk IN (0, 1)),  -- 1: takes in repairs
    second_turn INTEGER NOT NULL CHECK (second_turn IN (0, 1)),  -- 1: has a corner with used goods
    CHECK ((sunday_from IS NULL) = (sunday_to IS NULL))
);

CREATE TABLE suppliers (
    -- Firms that make parts for our articles; former ones stay in the table.
    supplier_id INTEGER PRIMARY KEY,
    name        TEXT NOT NULL UNIQUE,
    supplies    TEXT NOT NULL,                   -- what they make for us, in words
    active      INTEGER NOT NULL CHECK (active IN (0, 1))  -- 0: the contract has ended
);

CREATE TABLE products (
    -- Articles and spare parts on the autumn price list of 2024 and in the online shop.
    code  TEXT PRIMARY KEY,                      -- 'AK-170B', 'EARBUDS-AIR2', 'TIP-M2'
    name  TEXT NOT NULL,                         -- 'Aster, blue'
    line  TEXT NOT NULL,                         -- product line: 'kettles', 'audio', 'toast', 'blend', 'scales', 'lamps', ...
    kind  TEXT NOT NULL CHECK (kind IN ('article', 'part')),  -- 'part': spare parts and consumables
    price INTEGER NOT NULL CHECK (price > 0)     -- pounds, tax included
);

CREATE TABLE range (
    -- Which store sells what: one row for each pair of a store and a product that it keeps.
    store_id     INTEGER NOT NULL REFERENCES stores (store_id),
    product_code TEXT NOT NULL REFERENCES products (code),
    place        TEXT NOT NULL CHECK (place IN ('shelf', 'cabinet', 'desk', 'window')),  -- where it stands in the store
    PRIMARY KEY (store_id, product_code)
);

CREATE TABLE components (
    -- Which supplier makes which part of which product.
    product_code TEXT NOT NULL REFERENCES products (code),
    supplier_id  INTEGER NOT NULL REFERENCES suppliers (supplier_id),
    part         TEXT NOT NULL,                  -- 'cut-out TC-9', 'load cell'
    PRIMARY KEY (product_code, supplier_id, part)
);

CREATE TABLE staffing (
    -- Colleagues by store and month of 2024, counted on the fifteenth.
    store_id INTEGER NOT NULL REFERENCES stores (store_id),
    month    TEXT NOT NULL CHECK (month LIKE '____-__'),  -- '2024-06'
    on_rota  INTEGER NOT NULL,                   -- people on the rota
    required INTEGER NOT NULL,                   -- people that the staffing plan asks for; short: on_rota < required
    PRIMARY KEY (store_id, month)
);

CREATE TABLE orders (
    -- A sample of the orders: those that letters and lists speak of, and some thousands of June 2024 to January 2025.
    order_id    TEXT PRIMARY KEY CHECK (order_id LIKE 'ORD-______'),  -- 'ORD-482913'; one digit decides
    placed      TEXT,                            -- date of the order; NULL: not known
    store_id    INTEGER REFERENCES stores (store_id),  -- store where it is collected; NULL: sent to the customer
    carrier     TEXT,                            -- 'Redgate Vans', 'post', ...; NULL: collected in a store
    status      TEXT NOT NULL CHECK (status IN ('waiting', 'ready', 'collected', 'put back', 'delivered', 'lost')),
                                                 -- 'put back': nobody came, refunded; 'waiting': not yet ready
    ready_since TEXT,                            -- collection only: date of the message to the customer
    held_until  TEXT,                            -- collection only: last day on which it is kept
    left_on     TEXT,                            -- sent orders only: date on which the carrier took it
    promised    TEXT,                            -- sent orders only: promised day; late: finished > promised
    finished    TEXT,                            -- date of delivery or collection; NULL: neither has happened
    CHECK ((store_id IS NULL) <> (carrier IS NULL))
);

CREATE TABLE order_lines (
    -- What an order is made of. An order whose contents are not known has no line.
    order_id     TEXT NOT NULL REFERENCES orders (order_id),
    line_no      INTEGER NOT NULL,               -- 1, 2, ... within the order
    product_code TEXT NOT NULL REFERENCES products (code),
    quantity     INTEGER NOT NULL CHECK (quantity > 0),
    unit_price   INTEGER NOT NULL,               -- pounds paid for one piece
    PRIMARY KEY (order_id, line_no)
);

CREATE TABLE returns (
    -- Goods that came back. The number has nothing to do with that of an order, even where the digits are the same.
    return_id    TEXT PRIMARY KEY CHECK (return_id LIKE 'RET-______'),  -- 'RET-771204'
    order_id     TEXT REFERENCES orders (order_id),  -- NULL: not known, a receipt of a store or a present
    product_code TEXT NOT NULL REFERENCES products (code),
    received     TEXT,                           -- date; NULL: not noted
    reason       TEXT NOT NULL,                  -- 'not wanted', 'faulty', 'wrong article', 'damaged' or other words
    outcome      TEXT NOT NULL CHECK (outcome IN ('refunded', 'exchanged', 'to workshop', 'part sent', 'refused')),
    refunded_on  TEXT,                           -- date; NULL: no refund
    deduction    INTEGER NOT NULL DEFAULT 0      -- pounds kept back (earbuds bought before September 2024)
);

CREATE INDEX range_by_product ON range (product_code);
CREATE INDEX lines_by_product ON order_lines (product_code);
CREATE INDEX returns_by_product ON returns (product_code);
